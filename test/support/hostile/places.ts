import type { StudioRoute } from '../studio-routes.ts';
import type { HostilePlace } from './world.ts';

/** Pages of what is only in memory. */
export const NOT_STORED = /^\/chains\/dry-runs\/:id/;

/** What a path names, by the segment before its parameter. */
const NAMED: Readonly<Record<string, (place: HostilePlace) => readonly string[]>> = {
  runs: ({ run }) => [run],
  artifacts: ({ artifacts }) => artifacts,
  chains: ({ chain }) => [chain],
  named: ({ chain }) => [chain],
  skills: ({ skill }) => [skill],
  deliveries: ({ guid }) => [guid],
  fired: ({ command }) => [command],
  tokens: ({ command }) => [command.replace('cmd', 'tok')],
};

/** Every address of the route at which something of that place is shown. */
export function addressesAt({ path }: StudioRoute, place: HostilePlace): string[] {
  if (path.startsWith('/:owner/:repo/pull/:number')) {
    return [path.replace(/^\/:owner\/:repo\/pull\/:number\{.*\}/, `/octo/app/pull/${place.number}`)];
  }
  if (path === '/runs/:id')
    return ['', ...place.steps.map((step) => `?${new URLSearchParams({ step: step.toWellFormed() })}`)].map(
      (query) => `/runs/${place.run}${query}`,
    );
  const parts = path.split('/');
  return parts.slice(1).reduce(
    (addresses, part, at) => {
      if (!part.startsWith(':')) return addresses.map((address) => `${address}/${part}`);
      const named = NAMED[parts[at] ?? ''];
      if (!named) throw new Error(`Say in ${import.meta.url} what ${path} names.`);
      // A browser takes these for steps in the path.
      const values = named(place).map((value) =>
        /^\.{1,2}$/.test(value) ? '%2e' : encodeURIComponent(value.toWellFormed()),
      );
      return addresses.flatMap((address) => values.map((value) => `${address}/${value}`));
    },
    [''],
  );
}
