// process.execve replaces the program, where there is one.
// needs: 24
// stderr: yes
process.emitWarning('before');
console.log(typeof process.execve);
setTimeout(() => process.execve('/bin/echo', ['echo', 'replaced'], {}), 10);
