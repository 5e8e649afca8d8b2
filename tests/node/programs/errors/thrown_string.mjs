// A string that is thrown.
// exit: 1
// stderr: yes
throw 'only text';
