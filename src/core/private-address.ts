import { BlockList, isIPv6 } from 'node:net';

/**
 * The special-purpose addresses of https://www.iana.org/assignments/iana-ipv4-special-registry and
 * https://www.iana.org/assignments/iana-ipv6-special-registry that are not on the public internet, and those that
 * contain an IPv4 address, which could be one of them.
 */
const refused = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  refused.addSubnet(network, prefix, 'ipv4');
const internet = new BlockList();
internet.addSubnet('2000::', 3, 'ipv6');
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  refused.addSubnet(network, prefix, 'ipv6');

/** Whether an IP address is not on the public internet, such as the metadata service of a cloud. */
export function isPrivateAddress(address: string): boolean {
  if (!isIPv6(address)) return refused.check(address, 'ipv4');
  return !internet.check(address, 'ipv6') || refused.check(address, 'ipv6');
}
