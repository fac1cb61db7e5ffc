// Bundles the extension into dist/extension.js; "--production" makes it small, "--watch" keeps it up to date.
import * as esbuild from 'esbuild';

const production = process.argv.includes('--production');
const context = await esbuild.context({
  entryPoints: ['src/extension.ts'],
  outfile: 'dist/extension.js',
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  external: ['vscode'],
  minify: production,
  sourcemap: !production,
  logLevel: 'warning',
});
if (process.argv.includes('--watch')) {
  await context.watch();
} else {
  await context.rebuild();
  await context.dispose();
}
