// In front of a test's own function, in a sandbox or on the lab's host: ways to reach somebody. Each of them tells what came
// of it and never throws.
import cp from 'node:child_process';
import dgram from 'node:dgram';
import dns from 'node:dns';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';

const patience = 20_000; // for what should never take long; an outcome of its own, which no test wants
const codeOf = (error) => error.cause?.code ?? error.code ?? error.errors?.[0]?.code ?? String(error);

// 'connected', or the code of the error.
const dial = (host, port, options = {}) =>
  new Promise((resolve) => {
    const socket = net.connect({ host, port, timeout: patience, ...options });
    const done = (outcome) => resolve(outcome) ?? socket.destroy();
    socket.on('connect', () => done('connected')).on('error', (error) => done(codeOf(error))).on('timeout', () => done('timeout'));
  });

// Says `text`, and that this is all; what came back until the end, or the code of the error.
const ask = (host, port, text = '') =>
  new Promise((resolve) => {
    const socket = net.connect({ host, port, timeout: patience });
    let answer = '';
    socket.on('data', (bytes) => (answer += bytes)).on('end', () => resolve(answer)).on('error', (error) => resolve(codeOf(error)));
    socket.on('timeout', () => resolve('timeout') ?? socket.destroy());
    socket.end(text);
  });

const get = (url, options) => fetch(url, { signal: AbortSignal.timeout(patience), ...options }).then((response) => response.text(), codeOf);

// { attempt: outcome } of { attempt: promise }.
const outcomes = async (attempts) =>
  Object.fromEntries(await Promise.all(Object.entries(attempts).map(async ([name, attempt]) => [name, await attempt])));

// Sends datagrams, [[address, port, text], …], from one socket and one after the other. The texts that were answered until
// the answer to the last of them came: whoever wants to see that something is lost sends something after it that is not.
const datagrams = (kind, list) =>
  new Promise((resolve) => {
    const answers = [];
    const socket = dgram.createSocket(kind);
    const timer = setTimeout(() => done([...answers, 'timeout']), patience);
    const done = (outcome) => {
      clearTimeout(timer);
      socket.close();
      resolve(outcome);
    };
    socket.on('error', (error) => done([...answers, codeOf(error)]));
    socket.on('message', (bytes) => {
      answers.push(String(bytes));
      if (answers.at(-1) === list.at(-1)[2]) done(answers);
    });
    const next = (n) => n < list.length && socket.send(list[n][2], list[n][1], list[n][0], () => next(n + 1));
    next(0);
  });

// As programs look names up: by the C library and /etc/resolv.conf.
const lookup = (name, options = {}) =>
  dns.promises.lookup(name, { all: true, ...options }).then((found) => found.map(({ address }) => address).sort(), codeOf);

// By a query of its own, to the server in /etc/resolv.conf or to the one given.
function resolve(name, type = 'A', server = undefined, options = {}) {
  const resolver = new dns.promises.Resolver({ timeout: 1_000, tries: 2, ...options });
  if (server) resolver.setServers([server]);
  return resolver.resolve(name, type).then((found) => (Array.isArray(found) ? found.flat().sort() : found), codeOf);
}

// Sends bytes to a name server as they are, given and returned in base64; '' if it does not answer before it answers the next.
const rawQuery = (query, { server = '10.0.2.3', control } = {}) =>
  new Promise((resolve) => {
    const socket = dgram.createSocket(net.isIPv6(server) ? 'udp6' : 'udp4');
    const timer = setTimeout(() => resolve('timeout') ?? socket.close(), patience);
    socket.on('message', (bytes) => {
      clearTimeout(timer);
      socket.close();
      resolve(control && bytes.subarray(0, 2).equals(Buffer.from(control, 'base64').subarray(0, 2)) ? '' : bytes.toString('base64'));
    });
    socket.send(Buffer.from(query, 'base64'), 53, server, () => control && socket.send(Buffer.from(control, 'base64'), 53, server));
  });
