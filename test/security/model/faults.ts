import type { Fault, FaultMatch } from '../../support/github/faults.ts';
import type { Action } from './action.ts';

type FaultAction = Extract<Action, { do: 'fault' }>;

const LIMITED = { message: 'You have exceeded a secondary rate limit.' };

/** What goes wrong, as the stand-in does it. */
export const FAULT: Record<FaultAction['how'], Fault> = {
  502: { status: 502, body: { message: 'Server Error' } },
  429: { status: 429, headers: { 'retry-after': '5' }, body: LIMITED },
  reset: 'reset',
  'lost answer': { after: 'reset' },
};

/** The requests that it can affect. */
export const AFFECTS: Record<FaultAction['on'], FaultMatch> = {
  anything: () => true,
  reads: ({ method }) => method === 'GET',
  writes: ({ method, path }) => method !== 'GET' && path.startsWith('/repos/'),
  merge: ({ path }) => path.endsWith('/merge'),
  reactions: ({ path }) => /\/reactions\b/.test(path),
  permission: ({ path }) => path.endsWith('/permission'),
};
