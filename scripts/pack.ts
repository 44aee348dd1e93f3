/**
 * Runs before and after npm packs the package (`prepack`, `postpack`). Before: makes a clean build, and an
 * `npm-shrinkwrap.json`, so that users install exactly the versions of `package-lock.json`. npm does not
 * publish `package-lock.json`, and without a shrinkwrap, indirect dependencies would be as new as the day of
 * the installation. After: removes the shrinkwrap.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';

interface LockFile {
  packages: Record<string, { dev?: boolean; devOptional?: boolean; devDependencies?: unknown }>;
}

const SHRINKWRAP = 'npm-shrinkwrap.json';

if (process.argv[2] === 'after') {
  rmSync(SHRINKWRAP, { force: true });
} else {
  rmSync('dist', { recursive: true, force: true });
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  writeFileSync(SHRINKWRAP, `${JSON.stringify(withoutDev(lockFile()), null, 2)}\n`);
}

function lockFile(): LockFile {
  return JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile;
}

function withoutDev(lock: LockFile): LockFile {
  const packages = Object.entries(lock.packages).filter(([, entry]) => !entry.dev);
  for (const [, entry] of packages) delete entry.devDependencies;
  return { ...lock, packages: Object.fromEntries(packages) };
}
