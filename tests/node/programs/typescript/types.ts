// Types are taken out and what is left runs in its lines.
interface Point {
  x: number;
  y: number;
}
type Named<T> = T & { name: string };
const point: Named<Point> = { x: 1, y: 2, name: 'p' };
function sum<T extends Point>(value: T): number {
  return value.x + value.y;
}
abstract class Shape {
  protected readonly sides: number = 4;
  declare nothing: string;
  abstract area(): number;
}
class Square extends Shape {
  area = (): number => this.sides ** 2;
}
console.log(
  point satisfies Point,
  sum(point) as number,
  new Square().area(),
  import.meta.url,
  import.meta.filename,
  process.argv,
  process.features.typescript,
);
