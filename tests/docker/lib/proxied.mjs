// More for programs in containers, after tests/network/lib/outward.mjs: ways to use the proxy that their environment names.
import http from 'node:http';

const proxy = process.env.HTTP_PROXY ? new URL(process.env.HTTP_PROXY) : undefined;

// Says `text` to the proxy as it is: what was heard until the end, or the code of the error.
const tellProxy = (text) => (proxy ? ask(proxy.hostname, proxy.port, text) : Promise.resolve('no proxy'));

const statusOf = (heard) => Number(/^HTTP\/1\.1 (\d+)/.exec(heard)?.[1] ?? 0);

// The status of a request for a connection, and what followed.
const tunnel = async (place, text = '') => {
  const heard = await tellProxy(`CONNECT ${place} HTTP/1.1\r\n\r\n${text}`);
  return { status: statusOf(heard), rest: heard.slice(heard.indexOf('\r\n\r\n') + 4), heard };
};

// By node:http, which asks the proxy for whole addresses.
const request = (url) =>
  new Promise((resolve) => {
    const asked = http.get(url, { timeout: patience }, (response) => {
      let body = '';
      response.on('data', (bytes) => (body += bytes)).on('end', () => resolve(`${response.statusCode} ${body}`));
    });
    asked.on('error', (error) => resolve(codeOf(error))).on('timeout', () => resolve('timeout'));
  });
