// Signals that nobody can handle, numbers and wrong names.
for (const name of ['SIGKILL', 'SIGSTOP', 'SIGNOTHING']) {
  try {
    process.on(name, () => {});
    console.log(name, 'taken');
  } catch (error) {
    console.log(name, error.code, error.message);
  }
}
for (const signal of ['SIGNOTHING', 999, 0, -1]) {
  try {
    console.log(signal, process.kill(process.pid, signal));
  } catch (error) {
    console.log(signal, error.code, error.message);
  }
}
