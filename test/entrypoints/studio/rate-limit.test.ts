// @module-tag security
import { describe, expect, test } from 'vitest';
import { addressOf } from '../../../src/entrypoints/studio/rate-limit.ts';

describe('an attempt comes from', () => {
  test.each([
    ['the other end of the connection', '198.0.0.7', '198.0.0.7'],
    ['that end, whatever it says of others', '1.2.3.4, 198.0.0.7', '198.0.0.7'],
    ['an IPv4 address in the form of an IPv6 one', '1.2.3.4, ::ffff:198.0.0.7', '198.0.0.7'],
    ['whom a proxy on a private address names last', '1.2.3.4, 198.0.0.7, 10.0.0.1', '198.0.0.7'],
    ['whom a proxy on this machine names', '198.0.0.7, ::1', '198.0.0.7'],
    ['whom a proxy of a cloud names', '198.0.0.7, 100.64.3.2', '198.0.0.7'],
    ['a private address that names nobody', '10.0.0.1', '10.0.0.1'],
    ['a network, of which one machine has all addresses', '2600:1:2:3:4:5:6:7', '2600:1:2:3'],
    ['the same network', '2600:1:2:3::ffff', '2600:1:2:3'],
    ['nobody known', undefined, ''],
  ])('%s', (_, forwarded, address) => {
    expect(addressOf(forwarded)).toBe(address);
  });
});
