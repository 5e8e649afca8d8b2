// undefined that is thrown.
// exit: 1
// stderr: yes
throw undefined;
