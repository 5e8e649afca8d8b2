// Files of other kinds are refused or need attributes.
import { writeFileSync } from 'node:fs';
writeFileSync('x.json', '{}');
writeFileSync('x.txt', 'text');
writeFileSync('noextension', 'export default 1');
writeFileSync('bad.json', '{');
for (const [name, type] of [['./x.json'], ['./x.txt'], ['./noextension'], ['./bad.json', 'json'], ['./x.json', 'css']]) {
  try {
    console.log({ ...(await import(name, type && { with: { type } })) });
  } catch (error) {
    console.log(name, type, error.code, error.message);
  }
}
