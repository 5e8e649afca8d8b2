// TypeScript, where Node.js runs it: types are taken out, and positions stay.
interface Pair<T> {
  first: T;
  second: T;
}
const swap = <T>({ first, second }: Pair<T>): Pair<T> => ({ first: second, second: first });
console.log(swap<number>({ first: 1, second: 2 }) satisfies Pair<number>);
console.log(new Error('here').stack?.split('\n')[1]);
