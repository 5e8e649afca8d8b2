// Which values process.exitCode takes.
// exit: 7
for (const value of ['5', '0x', 1.5, {}, true, null, undefined, 2 ** 40]) {
  try {
    process.exitCode = value;
    console.log(value, process.exitCode);
  } catch (error) {
    console.log(value, error.code);
  }
}
process.exitCode = 7;
