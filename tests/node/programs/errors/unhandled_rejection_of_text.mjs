// A rejection with something that is no error.
// exit: 1
// stderr: yes
Promise.reject('text');
