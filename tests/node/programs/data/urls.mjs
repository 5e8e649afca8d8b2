// Addresses, forms and headers.
// host: yes
import { domainToASCII, fileURLToPath, pathToFileURL } from 'node:url';
const url = new URL('../a b?x=1&y=ü#frag', 'https://user:pw@例え.jp:8080/x/y/z');
console.log(
  url,
  url.href,
  [...url.searchParams],
  URL.canParse('x:'),
  domainToASCII('español.com'),
  fileURLToPath('file:///a%20b'),
  pathToFileURL('/a#b').href,
);
const form = new FormData();
form.append('a', '1');
form.append('f', new Blob(['x']), 'file.txt');
console.log([...form.keys()], form.get('f').name, new Headers({ A: '1', b: '2' }), new URLSearchParams({ q: 'a b&c' }).toString());
console.log(await new Response(new URLSearchParams('a=1')).text(), new Request('http://x/', { method: 'post' }).method, typeof URLPattern);
try {
  new URL('nonsense');
} catch (error) {
  console.log(error.code, error.message, error.input);
}
