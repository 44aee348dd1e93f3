// @module-tag security
import { expect, it } from 'vitest';
import { isPrivateAddress } from '../../src/core/private-address.ts';

it.each([
  '127.0.0.1',
  '10.1.2.3',
  '172.31.255.255',
  '192.168.0.1',
  '169.254.169.254',
  '100.100.100.200',
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
  '::1',
  '::',
  'fe80::1',
  'fd00:ec2::254',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '64:ff9b::7f00:1',
  '2002:7f00:1::1',
  '2001:0:7f00:1::1',
])('%s is not on the public internet', (address) => {
  expect(isPrivateAddress(address)).toBe(true);
});

it.each(['8.8.8.8', '172.32.0.1', '3.5.140.2', '2606:4700:4700::1111', '2001:4860:4860::8888'])(
  '%s is on the public internet',
  (address) => {
    expect(isPrivateAddress(address)).toBe(false);
  },
);
