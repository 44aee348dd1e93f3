import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isOfDeadProcess, leaseToken, thisProcess } from '../../src/adapters/embedded-queue/owner.ts';
import { backoffMs } from '../../src/core/backoff.ts';

describe('the owner of a lease', () => {
  const self = { host: 'box', pid: 10, start: 500 };
  const running = (pid: number) => pid === 11;

  it.each([
    ['box:12:400:x', true, 'a process of this host that is gone'],
    ['box:11:400:x', false, 'a process of this host that runs'],
    ['box:10:400:x', true, 'an earlier process with our pid'],
    ['box:10:500:x', false, 'ourselves'],
    ['ship:12:400:x', false, 'a process of another host'],
    ['fe80::1:12:400:x', false, 'a host with colons that is not ours'],
    ['the present process', false, 'a token of another kind'],
    ['', false, 'no token'],
  ])('%s: dead is %s for %s', (token, dead) => {
    expect(isOfDeadProcess(token, self, running)).toBe(dead);
  });

  it('is read back from any token made for it, whatever the host is called', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), fc.nat(), (host, pid, start) => {
        fc.pre(!/[\n\r\u2028\u2029]/.test(host));
        const token = leaseToken({ host, pid, start });
        expect(isOfDeadProcess(token, { host, pid, start: start + 1 }, () => true)).toBe(true);
        expect(isOfDeadProcess(token, { host, pid, start }, () => false)).toBe(false);
      }),
    );
  });

  it('has a new token for every claim', () => {
    expect(leaseToken(self)).not.toBe(leaseToken(self));
  });

  it('asks the operating system which processes run', () => {
    const me = thisProcess();
    const other = { ...me, pid: me.pid + 1 };
    expect(isOfDeadProcess(leaseToken(me), other)).toBe(false);
    expect(isOfDeadProcess(leaseToken({ ...me, pid: 2 ** 30 }), other)).toBe(true);
  });
});

describe('the backoff', () => {
  it('is between half and all of a time that doubles from one second up to five minutes', () => {
    fc.assert(
      fc.property(
        fc.nat(2_000),
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        (n, random) => {
          const full = Math.min(300_000, 1_000 * 2 ** Math.max(0, n - 1));
          expect(backoffMs(n, random)).toBeGreaterThanOrEqual(full / 2);
          expect(backoffMs(n, random)).toBeLessThanOrEqual(full);
        },
      ),
    );
  });
});
