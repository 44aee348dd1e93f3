import { posix } from 'node:path';
import { z } from 'zod';
import { WHOLE_PACKAGES } from './whole-packages.ts';

const names = z.record(z.string(), z.string());
const manifestSchema = z.looseObject({ files: z.array(z.string()), dependencies: names });
const entrySchema = z.looseObject({
  dependencies: names.optional(),
  optionalDependencies: names.optional(),
  peerDependencies: names.optional(),
});
const lockSchema = z.looseObject({ packages: z.record(z.string(), entrySchema) });

/** The text of `package.json`, read. */
export type Manifest = z.infer<typeof manifestSchema>;
/** The text of `package-lock.json`, read. */
export type Lock = z.infer<typeof lockSchema>;

export const readManifest = (text: string) => inItsOrder(manifestSchema, text);
export const readLock = (text: string) => inItsOrder(lockSchema, text);

/** Validated, with the members in their order: zod puts those first that it knows. */
function inItsOrder<T>(schema: z.ZodType<T>, text: string): T {
  const value: unknown = JSON.parse(text);
  schema.parse(value);
  return value as T;
}

/** What only a checkout needs. */
const OF_CHECKOUTS = ['private', 'scripts', 'devDependencies', 'allowScripts'];

/** The manifest of the package that is published: it depends only on what the build does not contain. */
export function publishedManifest(manifest: Manifest): Manifest {
  const kept = Object.entries(manifest).filter(([key]) => !OF_CHECKOUTS.includes(key));
  const dependencies = Object.entries(manifest.dependencies).filter(([name]) => isWhole(name));
  return { ...(Object.fromEntries(kept) as Manifest), dependencies: Object.fromEntries(dependencies) };
}

/**
 * The lock file of that package: what its dependencies need, in the versions of the checkout. npm does not publish
 * `package-lock.json`, and without a lock, indirect dependencies would be as new as the day of the installation.
 */
export function publishedLock(lock: Lock, manifest: Manifest): Lock {
  const { files, ...root } = manifest;
  const needed = reachable(lock, Object.keys(manifest.dependencies));
  const packages = Object.entries(lock.packages).flatMap(
    ([path, entry]): [string, Lock['packages'][string]][] => {
      if (!needed.has(path)) return [];
      const { dev, devOptional, peer, ...rest } = entry;
      return [[path, rest]];
    },
  );
  return { ...lock, packages: Object.fromEntries([['', rootEntry(root)], ...packages]) };
}

/** The paths in `node_modules` of packages and of everything that they depend on, as Node resolves it. */
export function reachable({ packages }: Lock, roots: readonly string[]): Set<string> {
  const found = new Set<string>();
  const visit = (from: string, name: string) => {
    const path = resolved(packages, from, name);
    // An optional one may not be in the lock.
    if (path === undefined || found.has(path)) return;
    found.add(path);
    const { dependencies, optionalDependencies, peerDependencies } = packages[path] ?? {};
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
      visit(path, next);
  };
  for (const root of roots) visit('', root);
  return found;
}

function resolved(packages: Lock['packages'], from: string, name: string): string | undefined {
  for (let folder = from; ; folder = parentOf(folder)) {
    const path = posix.join(folder, 'node_modules', name);
    if (packages[path]) return path;
    if (folder === '') return undefined;
  }
}

/** The package whose `node_modules` contains this one; '' for the root. */
function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/node_modules/')));
}

function isWhole(name: string): boolean {
  return WHOLE_PACKAGES.some((one) =>
    one.endsWith('/*') ? name.startsWith(one.slice(0, -1)) : name === one,
  );
}

/** What npm keeps of the manifest in a lock file. */
function rootEntry(manifest: Record<string, unknown>): Lock['packages'][string] {
  const kept = [
    'name',
    'version',
    'license',
    'dependencies',
    'bin',
    'engines',
    'peerDependencies',
    'peerDependenciesMeta',
  ];
  return entrySchema.parse(
    Object.fromEntries(kept.flatMap((key) => (key in manifest ? [[key, manifest[key]]] : []))),
  );
}
