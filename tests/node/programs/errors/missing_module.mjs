// A package that is not there.
// exit: 1
// stderr: yes
import 'left-pad-that-is-not-there';
