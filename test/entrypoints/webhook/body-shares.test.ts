import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createBodyShares,
  type HeldBody,
  type OverLimit,
} from '../../../src/entrypoints/webhook/body-shares.ts';
import { Gathered } from '../../../src/entrypoints/webhook/gathered.ts';

const LIMITS = {
  all: { bytes: 500, bodies: 10 },
  unproven: { bytes: 400, bodies: 8 },
  peer: { bytes: 300, bodies: 5 },
};
const [GITHUB, EVIL] = ['192.30.252.1', '203.0.113.7'];

function setUp() {
  let time = 0;
  const cut: string[] = [];
  const shares = createBodyShares(LIMITS, () => time);
  const open = (peer: string, name = peer) => shares.open(peer, () => void cut.push(name));
  return {
    cut,
    open,
    /** A body of so many bytes that must be accepted. */
    hold(peer: string, bytes = 0, name = peer): HeldBody {
      const held = open(peer, name);
      if (typeof held === 'string') throw new Error(`refused: ${held}`);
      expect(held.grow(bytes)).toBeUndefined();
      return held;
    },
    /** The answer to a sender whose body of so many bytes begins. */
    asks(peer: string, bytes = 0): OverLimit | 'taken' {
      const held = open(peer);
      return typeof held === 'string' ? held : (held.grow(bytes) ?? 'taken');
    },
    prove(peer: string) {
      const held = this.hold(peer);
      held.prove();
      held.release();
    },
    pass(ms: number) {
      time += ms;
    },
  };
}

describe('the share of bodies without a checked signature', () => {
  it('leaves other senders a part that one sender cannot take', () => {
    const { hold, asks } = setUp();
    hold(EVIL, 300);
    expect([asks(EVIL, 1), asks(GITHUB, 100)]).toEqual(['peer', 'taken']);
  });

  it('leaves senders with an earlier valid signature a part that all others together cannot take', () => {
    const shares = setUp();
    shares.prove(GITHUB);
    for (const evil of ['203.0.113.1', '203.0.113.2', '203.0.113.3', '203.0.113.4']) shares.hold(evil, 100);
    expect([shares.asks('203.0.113.5', 1), shares.asks(GITHUB, 100)]).toEqual(['all', 'taken']);
  });

  it('is also limited for senders with an earlier valid signature', () => {
    const shares = setUp();
    shares.prove(GITHUB);
    shares.hold(GITHUB, 500);
    expect(shares.asks(GITHUB, 1)).toBe('all');
  });

  it('limits the number of bodies as well as their bytes', () => {
    const { hold, asks } = setUp();
    for (let count = 0; count < 5; count++) hold(EVIL);
    expect([asks(EVIL), asks(GITHUB)]).toEqual(['peer', 'taken']);
  });

  it('makes room behind a shared proxy by ending unfinished bodies, oldest first', () => {
    const { hold, asks, pass, cut } = setUp();
    const proxy = '10.0.0.1';
    hold(proxy, 150, 'the oldest');
    pass(1);
    hold(proxy, 150, 'the next');
    expect(asks(proxy, 50)).toBe('peer');
    pass(2_000);
    expect([asks(proxy, 50), cut]).toEqual(['taken', ['the oldest']]);
  });

  it('ends no complete body, and none of a share that has room', () => {
    const { hold, asks, pass, cut } = setUp();
    hold(GITHUB, 50, 'of somebody else');
    hold(EVIL, 300, 'whole').finish();
    pass(60_000);
    expect([asks(EVIL, 1), cut]).toEqual(['peer', []]);
  });

  it('is free again once it is released, also if it is released twice', () => {
    const { hold, asks } = setUp();
    const held = hold(EVIL, 300);
    held.release();
    held.release();
    expect(asks(EVIL, 300)).toBe('taken');
  });

  it.each([
    ['the same IPv6 network', '2001:db8:1:2::1', '2001:db8:1:2:ffff::9', 'peer'],
    ['another IPv6 network', '2001:db8:1:2::1', '2001:db8:1:3::1', 'taken'],
    ['the same address written short and long', '2001:db8::1', '2001:db8:0:0:1::', 'peer'],
    ['an IPv4 address inside of IPv6', '203.0.113.7', '::ffff:203.0.113.7', 'peer'],
    ['two IPv4 addresses inside of IPv6', '::ffff:203.0.113.7', '::ffff:203.0.113.8', 'taken'],
  ])('recognises a sender by %s', (_what, first, second, answer) => {
    const { hold, asks } = setUp();
    hold(first, 300);
    expect(asks(second, 1)).toBe(answer);
  });

  it('never exceeds a limit, and returns to zero, for any senders', () => {
    const step = fc.record({
      peer: fc.constantFrom('1.1.1.1', '2.2.2.2', '3.3.3.3'),
      act: fc.constantFrom('open', 'grow', 'finish', 'prove', 'release'),
      which: fc.nat(20),
      bytes: fc.nat(200),
      pass: fc.constantFrom(0, 500, 3_000),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let time = 0;
        const shares = createBodyShares(LIMITS, () => time);
        const live = new Map<HeldBody, number>();
        for (const { peer, act, which, bytes, pass } of steps) {
          time += pass;
          const held = [...live.keys()][which % Math.max(1, live.size)];
          if (act === 'open') {
            const opened = shares.open(peer, () => void live.delete(opened as HeldBody));
            if (typeof opened !== 'string') live.set(opened, 0);
          } else if (held && act === 'grow') {
            if (held.grow(bytes) === undefined) live.set(held, (live.get(held) ?? 0) + bytes);
          } else if (held && act === 'release') {
            held.release();
            live.delete(held);
          } else if (held && (act === 'finish' || act === 'prove')) held[act]();
          expect([...live.values()].reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(LIMITS.all.bytes);
          expect(live.size).toBeLessThanOrEqual(LIMITS.all.bodies);
        }
        for (const held of live.keys()) held.release();
        for (const peer of ['1.1.1.1', '2.2.2.2']) {
          const held = shares.open(peer, () => {});
          expect(typeof held === 'string' ? held : held.grow(200)).toBeUndefined();
        }
      }),
    );
  });
});

describe('bytes as they arrive', () => {
  const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 3_000 }), { maxLength: 40 });

  it('are not copied if they come in one piece, as most deliveries do', () => {
    const gathered = new Gathered();
    const chunk = Buffer.alloc(24_000);
    gathered.add(chunk);
    expect(gathered.take()).toBe(chunk);
  });

  it('are one piece in the end, and take at most twice what arrived plus 1 KB', () => {
    fc.assert(
      fc.property(chunks, (parts) => {
        const gathered = new Gathered();
        let [cost, arrived] = [0, 0];
        for (const part of parts) {
          // Alone in its memory, as Node's are.
          const chunk = Buffer.from(part.slice().buffer);
          cost += gathered.cost(chunk);
          arrived += chunk.length;
          gathered.add(chunk);
          expect(cost).toBeLessThanOrEqual(2 * arrived + 1_024);
        }
        expect(gathered.take()).toEqual(Buffer.concat(parts));
      }),
    );
  });

  it('do not keep the larger buffers that they were parts of', () => {
    const gathered = new Gathered();
    const slab = Buffer.alloc(64 * 1_024, 'a');
    gathered.add(slab.subarray(0, 1));
    slab.fill('b');
    gathered.add(slab.subarray(0, 1));
    expect(gathered.take().toString()).toBe('ab');
  });
});
