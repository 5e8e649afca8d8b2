// The command line: what a person or a script types.
import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { belljar, cli } from './lib/belljar.mjs';
import { startRegistry } from './lib/registry.mjs';

let directory;
before(() => {
  directory = mkdtempSync(join(tmpdir(), 'belljar-cli-'));
});
after(() => rmSync(directory, { recursive: true }));
const file = (name, text) => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
};

describe('belljar run', () => {
  test('runs a file and passes its streams on', async () => {
    const { code, stdout, stderr } = await cli(['run', file('a.mjs', 'console.log("out"); console.error("err")')]);
    assert.equal(code, 0, stderr);
    assert.equal(stdout, 'out\n');
    assert.match(stderr, /err/);
  });

  test('runs code given with -e', async () => {
    const { code, stdout, stderr } = await cli(['run', '-e', 'console.log(6 * 7)']);
    assert.equal(code, 0, stderr);
    assert.equal(stdout, '42\n');
  });

  for (const args of [['x', '-y'], ['-y']]) {
    test(`passes ${args.join(' ')} on to code given with -e`, async () => {
      const { stdout, stderr } = await cli(['run', '-e', 'console.log(process.argv.slice(2).join())', '--', ...args]);
      assert.equal(stdout, `${args.join()}\n`, stderr);
    });
  }

  test('installs packages given with --dependency', async (t) => {
    const registry = await startRegistry();
    t.after(() => registry.stop());
    const env = { npm_config_userconfig: registry.npmrc(join(directory, 'npmrc')) };
    const program = 'import a from "own-types"; import b from "@private/x"; console.log(a, b)';
    const { code, stdout, stderr } = await cli(['run', '-d', 'own-types@1.0.0', '--dependency', '@private/x', '-e', program], { env });
    assert.equal(code, 0, stderr);
    assert.equal(stdout, '1.0.0 private\n');
    const unknown = await cli(['run', '-d', 'no-such-package', '-e', '1'], { env });
    assert.notEqual(unknown.code, 0);
    assert.match(unknown.stderr, /no-such-package/);
  });

  test('runs code from standard input', async () => {
    const { stdout, stderr } = await cli(['run', '-'], { input: 'console.log("piped")' });
    assert.equal(stdout, 'piped\n', stderr);
  });

  test('runs TypeScript by its file name', async () => {
    const { stdout, stderr } = await cli(['run', file('t.ts', 'const n: number = 7; console.log(n as number)')]);
    assert.equal(stdout, '7\n', stderr);
  });

  for (const code of [0, 1, 7, 255]) {
    test(`ends with the program's exit code ${code}`, async () => {
      assert.equal((await cli(['run', '-e', `process.exit(${code})`])).code, code);
    });
  }

  test('ends as shells do after a signal', async () => {
    const { code } = await cli(['run', '-e', 'process.kill(process.pid, "SIGTERM"); setTimeout(() => {}, 60000)']);
    assert.equal(code, 128 + 15);
  });

  test('--json prints one object with the result', async () => {
    const { code, stdout, stderr } = await cli(['run', '--json', '-e', 'console.log("o"); console.error("e"); process.exit(3)']);
    assert.equal(code, 3, stderr);
    const result = JSON.parse(stdout);
    assert.equal(result.stdout, 'o\n');
    assert.equal(result.stderr, 'e\n');
    assert.equal(result.exitCode, 3);
  });

  test('--time says where the time went, on stderr', async () => {
    const { stdout, stderr } = await cli(['run', '--time', '-e', 'console.log(1)']);
    assert.equal(stdout, '1\n');
    assert.match(stderr, /ms/);
  });

  test('a file that is not there is named', async () => {
    const { code, stdout, stderr } = await cli(['run', '/no/such/file.mjs']);
    assert.notEqual(code, 0);
    assert.equal(stdout, '');
    assert.match(stderr, /\/no\/such\/file\.mjs/);
  });

  test('neither a file nor code is an error that says what is needed', async () => {
    const { code, stderr } = await cli(['run']);
    assert.notEqual(code, 0);
    assert.match(stderr, /FILE|-e/);
  });
});

describe('help', () => {
  const commands = [[], ['run'], ['mcp'], ['runtime'], ['runtime', 'list'], ['runtime', 'install'], ['runtime', 'remove'], ['config'], ['doctor']];
  for (const command of commands) {
    test(`belljar ${[...command, '--help'].join(' ')} is complete and goes to stdout`, async () => {
      const { code, stdout } = await cli([...command, '--help']);
      assert.equal(code, 0);
      assert.match(stdout, /usage|options|subcommands/i);
      if (command.length === 0) for (const name of ['run', 'mcp', 'runtime', 'config', 'doctor']) assert.match(stdout, new RegExp(`\\b${name}\\b`));
    });
  }

  test('belljar --help shows how to connect this very program', async () => {
    const { stdout } = await cli(['--help']);
    const { mcpServers } = JSON.parse(/^ *(\{"mcpServers".*)$/m.exec(stdout)[1]);
    assert.deepEqual(mcpServers.belljar, { command: realpathSync(belljar), args: ['mcp'] });
  });

  test('--version prints a version', async () => {
    const { code, stdout } = await cli(['--version']);
    assert.equal(code, 0);
    assert.match(stdout, /\d+\.\d+\.\d+/);
  });

  for (const args of [['no-such-command'], ['--no-such-flag'], ['run', '--no-such-flag'], ['runtime', 'no-such']]) {
    test(`belljar ${args.join(' ')} is refused`, async () => {
      const { code, stdout, stderr } = await cli(args);
      assert.notEqual(code, 0);
      assert.equal(stdout, '');
      assert.match(stderr, /no-such/);
    });
  }
});

describe('belljar runtime', () => {
  test('list --json names the installed versions', async () => {
    const { code, stdout, stderr } = await cli(['runtime', 'list', '--json']);
    assert.equal(code, 0, stderr);
    assert.match(JSON.stringify(JSON.parse(stdout)), /"\d+\.\d+\.\d+"/);
  });

  test('install of an unknown version is an error that names it', async () => {
    const { code, stderr } = await cli(['runtime', 'install', '999']);
    assert.notEqual(code, 0);
    assert.match(stderr, /999/);
  });

  test('remove of a version that is not installed is an error that names it', async () => {
    const { code, stderr } = await cli(['runtime', 'remove', '0.0.1']);
    assert.notEqual(code, 0);
    assert.match(stderr, /0\.0\.1/);
  });
});

describe('belljar config', () => {
  // The setting with this name: { value, from }, wherever the output has it.
  async function setting(name, { args = [], env = {} } = {}) {
    const { code, stdout, stderr } = await cli(['config', '--json', ...args], { env });
    assert.equal(code, 0, stderr);
    const all = JSON.parse(stdout);
    const found = (all.settings ?? all)[name] ?? Object.values(all.settings ?? all).find?.((one) => one.name === name);
    assert.ok(found, `${name} in ${stdout}`);
    return found;
  }

  test('prints every value and where it came from', async () => {
    const { code, stdout } = await cli(['config']);
    assert.equal(code, 0);
    assert.match(stdout, /memory/);
    assert.match(stdout, /default/);
  });

  test('prints a file that can be used as it is', async () => {
    const args = ['config', '--files-dir', join(directory, 'a "quoted" name')];
    const { stdout } = await cli(args);
    const again = await cli(['config', '--json', '--config', file('printed.toml', stdout)]);
    assert.equal(again.code, 0, again.stderr);
    assert.equal(JSON.parse(again.stdout).settings['files-dir'].value, args[2]);
  });

  test('a flag beats a variable, which beats the file, which beats the default', async () => {
    const toml = file('belljar.toml', 'memory = "100m"\n');
    const flag = ['--memory', '300m'];
    const env = { SANDBOX_MEMORY_LIMIT: '200m' };
    const config = { BELLJAR_CONFIG: toml };
    const text = async (options) => JSON.stringify(await setting('memory', options));
    assert.match(await text({}), /512m|512 MiB|536870912/);
    assert.match(await text({ env: config }), /100m|104857600/);
    assert.match(await text({ env: { ...config, ...env } }), /200m|209715200/);
    assert.match(await text({ env: { ...config, ...env }, args: flag }), /300m|314572800/);
  });

  const bad = [
    ['SANDBOX_MEMORY_LIMIT', 'lots'], ['SANDBOX_MEMORY_LIMIT', '-5m'], ['SANDBOX_CPU_LIMIT', 'zero'], ['SANDBOX_CPU_LIMIT', '-1'], ['SANDBOX_CPU_LIMIT', '0'],
    ['NODE_CONTAINER_TIMEOUT', 'forever'], ['NODE_CONTAINER_TIMEOUT', '-1'], ['RUN_SCRIPT_TIMEOUT', '1.5'], ['RUN_SCRIPT_TIMEOUT', '10s'],
  ];
  for (const [name, value] of bad) {
    test(`${name}=${value} is an error at start that names variable, value and form`, async () => {
      for (const command of [['config'], ['mcp'], ['run', '-e', '1']]) {
        const { code, stdout, stderr } = await cli(command, { env: { [name]: value } });
        assert.notEqual(code, 0, command[0]);
        assert.equal(stdout, '');
        assert.ok(stderr.includes(name) && stderr.includes(value), stderr);
        assert.ok(stderr.trim().length > name.length + value.length + 10, `says what form it needs: ${stderr}`);
      }
    });
  }

  test('a file that does not parse is named with the line', async () => {
    const { code, stderr } = await cli(['config'], { env: { BELLJAR_CONFIG: file('broken.toml', 'memory = "1g"\n???\n') } });
    assert.notEqual(code, 0);
    assert.match(stderr, /broken\.toml/);
    assert.match(stderr, /2/);
  });

  test('an unknown key in the file is an error that names it', async () => {
    const { code, stderr } = await cli(['config'], { env: { BELLJAR_CONFIG: file('odd.toml', 'memroy = "1g"\n') } });
    assert.notEqual(code, 0);
    assert.match(stderr, /memroy/);
  });
});

describe('belljar doctor', () => {
  test('--json lists what this host enforces', async () => {
    const { code, stdout, stderr } = await cli(['doctor', '--json']);
    assert.equal(code, 0, stderr + stdout);
    const text = JSON.stringify(JSON.parse(stdout));
    for (const word of ['seccomp', 'memory', 'processes', 'namespaces']) assert.match(text, new RegExp(word, 'i'));
  });

  test('prints the same for people', async () => {
    const { code, stdout, stderr } = await cli(['doctor']);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /seccomp/i);
  });
});

describe('belljar mcp', () => {
  test('ends with 0 when there is no input at all', async () => {
    const { code, stdout, ms } = await cli(['mcp']);
    assert.equal(code, 0);
    assert.equal(stdout, '');
    assert.ok(ms < 1_000, `${ms} ms`);
  });
});
