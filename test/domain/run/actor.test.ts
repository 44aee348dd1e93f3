import { expect, it } from 'vitest';
import { actorOf, OPERATOR } from '../../../src/domain/run/actor.ts';
import { manualEvent, pullRequestEvent } from '../../support/builders.ts';

it('an event is its own actor, with the delivery that reported it', () => {
  expect(actorOf(pullRequestEvent(), 12)).toEqual({ kind: 'event', event: 'pr.opened', delivery: 12 });
  expect(actorOf(pullRequestEvent(), null)).toEqual({ kind: 'event', event: 'pr.opened', delivery: null });
});

it.each([
  ['ada', { kind: 'person', login: 'ada' }],
  [OPERATOR, { kind: 'operator' }],
])('the actor of a chain that %s fired is whoever fired it', (actor, expected) => {
  const event = { ...manualEvent('deploy'), actor };
  expect(actorOf(event, null)).toEqual(expected);
});
