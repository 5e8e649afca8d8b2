// A file that is not there, by require.
// exit: 1
// stderr: yes
require('./lib/missing');
