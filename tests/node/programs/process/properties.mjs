// The properties of process: names, kinds and whether they can be written.
for (const name of Reflect.ownKeys(process).sort((one, other) => String(one).localeCompare(String(other)))) {
  const { value, get, set, writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(process, name);
  console.log(name, typeof value, typeof get, typeof set, writable, enumerable, configurable);
}
