// null that is thrown.
// exit: 1
// stderr: yes
throw null;
