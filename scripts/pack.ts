/**
 * Writes the npm package into the folder `package/`, from a clean build: `npm publish ./package` publishes it, and the image is made
 * of it. Its manifest and its `npm-shrinkwrap.json` name only the packages that the build does not contain, so that nobody
 * installs the others twice. Rejected: publishing the checkout, because the registry would show all of its dependencies,
 * and moving them to `devDependencies`, because a checkout runs the sources without those (`action.yml`).
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publishedLock, publishedManifest, readLock, readManifest } from './published-package.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(ROOT, 'package');

execFileSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' });
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const manifest = publishedManifest(readManifest(read('package.json')));
const lock = publishedLock(readLock(read('package-lock.json')), manifest);

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER);
const write = (file: string, content: object) =>
  writeFileSync(join(FOLDER, file), `${JSON.stringify(content, null, 2)}\n`);
write('package.json', manifest);
write('npm-shrinkwrap.json', lock);
for (const file of ['README.md', 'LICENSE', ...manifest.files].filter(
  (file) => file !== 'npm-shrinkwrap.json',
))
  cpSync(join(ROOT, file), join(FOLDER, file), { recursive: true });
