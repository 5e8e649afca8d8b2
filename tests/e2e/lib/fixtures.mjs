// The packages that startRegistry() publishes. Each says by its name what it is for.

const index = (value) => ({ 'index.js': `export default ${JSON.stringify(value)};\n` });
const module_ = { type: 'module', main: 'index.js' };

// Its own types, in several files, with several versions and dist-tags.
const typed = (version, tags) => ({
  name: 'own-types',
  version,
  tags,
  manifest: { ...module_, types: './lib/index.d.ts', keywords: ['fixture', 'typed'] },
  files: {
    ...index(version),
    'lib/index.d.ts': `export * from './shapes';\nexport declare const version: '${version}';\n`,
    'lib/shapes.d.ts': 'import { Unit } from "./units/index.js";\nexport interface Circle { radius: number; unit: Unit }\n',
    'lib/units/index.d.ts': "export type Unit = 'mm' | 'cm';\n",
    'lib/unused.d.ts': 'export type Unused = never;\n',
  },
  readme: `# own-types\n\nKnows the **shapes** of things. ${'Round or not. '.repeat(60)}`,
});

export const fixtures = [
  typed('1.0.0'),
  typed('1.2.0'),
  typed('2.0.0-beta.1', ['next']),
  typed('1.2.3', ['latest', 'stable']),

  // `exports` with the condition `types`; the top-level `types` is a decoy.
  {
    name: 'exports-types',
    version: '3.1.0',
    manifest: {
      type: 'module',
      types: './decoy.d.ts',
      exports: {
        '.': {
          import: { types: './dist/index.d.mts', default: './dist/index.mjs' },
          require: { types: './dist/index.d.cts', default: './dist/index.cjs' },
        },
      },
    },
    files: {
      'dist/index.mjs': 'export const esm = true;\n',
      'dist/index.cjs': 'exports.esm = false;\n',
      'dist/index.d.mts': 'export declare const esm: true;\n',
      'dist/index.d.cts': 'export declare const esm: false;\n',
      'decoy.d.ts': 'export declare const decoy: true;\n',
    },
  },

  // Types by another package, in versions that follow the package's.
  { name: 'typed-elsewhere', version: '1.4.2', manifest: module_, files: index('typed-elsewhere') },
  { name: 'typed-elsewhere', version: '2.0.0', manifest: module_, files: index('typed-elsewhere') },
  {
    name: '@types/typed-elsewhere',
    version: '1.4.9',
    manifest: { types: 'index.d.ts' },
    files: { 'index.d.ts': 'declare const value: "1.4";\nexport default value;\n' },
  },
  {
    name: '@types/typed-elsewhere',
    version: '2.1.0',
    manifest: { types: 'index.d.ts' },
    files: { 'index.d.ts': 'declare const value: "2.1";\nexport default value;\n' },
  },
  { name: '@scope/untyped', version: '1.0.0', manifest: module_, files: index('@scope/untyped') },
  {
    name: '@types/scope__untyped',
    version: '1.0.1',
    manifest: { types: 'index' },
    files: { 'index.d.ts': 'export declare const scoped: true;\n' },
  },
  { name: 'no-types', version: '0.1.0', manifest: module_, files: index('no-types'), readme: '# no-types' },

  // Needs the token.
  {
    name: '@private/x',
    version: '1.0.0',
    manifest: { ...module_, types: 'index.d.ts' },
    files: { ...index('private'), 'index.d.ts': 'export declare const secret: true;\n' },
  },

  // What programs install.
  {
    name: 'with-dependencies',
    version: '1.0.0',
    manifest: { ...module_, dependencies: { 'own-types': '^1.0.0', 'no-types': '*' } },
    files: { 'index.js': "import a from 'own-types';\nimport b from 'no-types';\nexport default [a, b];\n" },
  },
  {
    name: 'with-postinstall',
    version: '1.0.0',
    manifest: { ...module_, scripts: { postinstall: 'touch postinstall-ran; touch /tmp/postinstall-ran' } },
    files: index('with-postinstall'),
  },
  {
    name: 'with-bin',
    version: '1.0.0',
    manifest: { ...module_, bin: { 'fixture-command': 'bin/command.js' } },
    files: { ...index('with-bin'), 'bin/command.js': "#!/usr/bin/env node\nconsole.log('from a bin');\n" },
  },
  {
    name: 'common-js',
    version: '1.0.0',
    manifest: { main: 'index.js' },
    files: { 'index.js': "module.exports = { ['no' + 'named']: 'common-js' };\n" },
  },
  { name: 'needs-old', version: '1.0.0', manifest: { ...module_, peerDependencies: { 'own-types': '1.0.0' } }, files: index('needs-old') },
  { name: 'other-system', version: '1.0.0', manifest: { ...module_, os: ['aix'] }, files: index('other-system') },
  { name: 'big', version: '1.0.0', manifest: module_, files: { ...index('big'), 'data.bin': Buffer.alloc(24 << 20, 'x') } },

  // Hostile ones.
  {
    name: 'hostile-huge',
    version: '1.0.0',
    manifest: { ...module_, types: 'index.d.ts' },
    files: { ...index('huge'), 'index.d.ts': Buffer.alloc(96 << 20, '/') },
  },
  {
    name: 'hostile-paths',
    version: '1.0.0',
    manifest: { ...module_, types: '../../../../../../etc/passwd' },
    files: { ...index('paths') },
  },
  {
    name: 'hostile-link',
    version: '1.0.0',
    manifest: { ...module_, types: 'index.d.ts' },
    files: { ...index('link'), 'index.d.ts': { link: '/etc/passwd' } },
  },
  {
    name: 'hostile-escape',
    version: '1.0.0',
    manifest: { ...module_, types: 'index.d.ts' },
    files: { ...index('escape'), '../../../../tmp/belljar-escaped': 'out', 'index.d.ts': 'export {};\n' },
  },
];
