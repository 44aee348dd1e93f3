import { isLoopback } from '../../core/loopback.ts';

/**
 * Validates the address of an index or a package. It must be https, so that nobody on the network can change
 * the content; http is allowed only for this machine. An index elsewhere must not lead to this machine, where
 * services trust local requests.
 * @param index the index that contains the address, which may be relative to it
 * @returns the address, or the reason why it is invalid
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
