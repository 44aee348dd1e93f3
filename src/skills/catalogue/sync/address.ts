import { isLoopback } from '../../../core/loopback.ts';

/**
 * Where an index or a package may be read from: https, so that nobody on the way can change it; plain http only of this machine
 * itself. An index elsewhere leads to nothing on this machine, where services trust whoever reaches them.
 * @param index The address of the index that names it, relative to which it may be written.
 * @returns the address, or what is wrong with it.
 */
export function addressOf(text: string, index?: URL): URL | { because: string } {
  if (!URL.canParse(text, index?.href)) return { because: 'it is no web address' };
  const url = new URL(text, index?.href);
  if (url.username || url.password || url.search || url.hash) {
    return { because: 'an address has no user name, query or fragment' };
  }
  const here = isLoopback(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && here)) {
    return { because: 'an address must be https; plain http is for a loopback host only' };
  }
  if (here && index && !isLoopback(index.hostname)) {
    return { because: 'an index elsewhere cannot name a package on this machine' };
  }
  return url;
}
