// An object that is thrown.
// exit: 1
// stderr: yes
throw { code: 'E_OWN', list: [1, { a: 2 }], toString: () => 'text' };
