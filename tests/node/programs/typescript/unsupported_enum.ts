// What cannot be stripped is an error.
// exit: 1
// stderr: yes
enum Colour {
  red,
  green,
}
console.log(Colour.red);
