// @module-tag security

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventSchema } from '../../../src/domain/event/event.ts';
import { toEvents, WEBHOOK_NAMES } from '../../../src/entrypoints/webhook/event/from-webhook.ts';
import { EXAMPLES } from './support.ts';

const own = { appId: 99 };
const common = {
  installation: { id: 5 },
  repository: { id: 7, name: 'site', owner: { login: 'acme' }, default_branch: 'main' },
};
const opened = { ...common, action: 'opened', pull_request: { number: 3 } };

describe('toEvents', () => {
  it('ignores a webhook that was not sent to an App, and says so', () => {
    const { installation: _left, ...payload } = opened;
    expect(toEvents('pull_request', payload, own)).toEqual({
      kind: 'ignored',
      because: 'the payload names no installation: it was not sent to a GitHub App',
    });
  });

  it.each([
    [
      'pull_request',
      { ...opened, pull_request: { number: '3' } },
      'pull_request.number: expected number, received string',
    ],
    [
      'pull_request',
      { ...opened, repository: { id: 7, name: 'site' } },
      'repository.owner: expected object, received undefined',
    ],
    ['check_suite', { ...common, action: 'completed' }, 'check_suite: expected object, received undefined'],
    [
      'push',
      { ...common, ref: 'refs/heads/x' },
      'before: expected string, received undefined; forced: expected boolean, received undefined; after: expected string, received undefined',
    ],
    ['status', null, 'the payload: expected object, received null'],
  ])('names the missing fields of %s', (name, payload, because) => {
    expect(toEvents(name, payload, own)).toEqual({ kind: 'unreadable', because });
  });

  it.each(['ping', 'meta', 'member', 'workflow_run', 'constructor', ''])('ignores "%s"', (name) => {
    expect(toEvents(name, common, own)).toEqual({
      kind: 'ignored',
      because: `this app does not act on "${name}" webhooks`,
    });
  });

  it('reads or ignores each of GitHub’s example payloads and calls none unreadable', () => {
    const installed = EXAMPLES.flatMap(({ name, examples: payloads }) =>
      payloads.map((payload) => toEvents(name, { ...payload, installation: { id: 5 } }, own)),
    );
    expect(installed).toHaveLength(329);
    expect(installed.filter(({ kind }) => kind === 'unreadable')).toEqual([]);
    const seen = installed.flatMap((reading) => (reading.kind === 'events' ? reading.events : []));
    for (const event of seen) expect(eventSchema.parse(event)).toEqual(event);
    expect(new Set(seen.map(({ kind }) => kind))).toEqual(
      new Set([
        'pr.opened',
        'pr.updated',
        'pr.closed',
        'ci.changed',
        'approval.changed',
        'issue.created',
        'issue.labeled',
        'pr.labeled',
        'pr.review_submitted',
        'release.published',
        'file.changed',
        'installation.gone',
        'installation.back',
        'repository.gone',
        'repository.renamed',
        'group.requested',
      ]),
    );
  });

  it('never throws, whatever the name and the payload are', () => {
    const name = fc.oneof(fc.constantFrom(...WEBHOOK_NAMES), fc.string());
    fc.assert(
      fc.property(name, fc.anything({ withNullPrototype: true }), (event, payload) => {
        expect(['events', 'ignored', 'unreadable']).toContain(toEvents(event, payload, own).kind);
      }),
    );
  });

  it('makes only valid events of a real payload in which one field was replaced', { tags: 'slow' }, () => {
    const real = EXAMPLES.filter(({ name }) => WEBHOOK_NAMES.includes(name)).flatMap(
      ({ name, examples: payloads }) =>
        payloads.map((payload) => ({ name, payload: { ...payload, installation: { id: 5 } } })),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...real),
        fc.infiniteStream(fc.nat()),
        fc.jsonValue(),
        (one, picks, value) => {
          const broken = structuredClone(one.payload);
          replaceSomewhere(broken, picks, value);
          const reading = toEvents(one.name, broken, own);
          if (reading.kind === 'events') for (const event of reading.events) eventSchema.parse(event);
        },
      ),
      { numRuns: 500 },
    );
  });
});

/** Descends at random and replaces a member there. */
function replaceSomewhere(target: object, picks: Iterator<number>, value: unknown): void {
  const keys = Object.keys(target);
  const key = keys[picks.next().value % keys.length];
  if (key === undefined) return;
  const member: unknown = Reflect.get(target, key);
  if (typeof member === 'object' && member !== null && picks.next().value % 3 > 0) {
    replaceSomewhere(member, picks, value);
  } else {
    Reflect.set(target, key, value);
  }
}
