import { isIPv6 } from 'node:net';

/** `192.0.2.1` for `::ffff:192.0.2.1`, as which a socket for both kinds names it. */
export function unmapped(address: string): string {
  return /^::ffff:(\d+(?:\.\d+){3})$/i.exec(address)?.[1] ?? address;
}

/**
 * One sender: an IPv4 address or an IPv6 network of 64 bits, because a single machine usually has a whole
 * such network.
 */
export function senderOf(address = ''): string {
  const plain = unmapped(address);
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.replace(/%.*$/, '').split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array<string>(zeros).fill('0'), ...back];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
