/** 100 ns units from the beginning of the Gregorian calendar, where UUIDs of version 1 count from, to 1970. */
const GREGORIAN = 0x01b21dd213814000n;
const NODE = '81ab-4c9367dc0958';

let ticks = GREGORIAN + BigInt(Date.now()) * 10_000n;

/**
 * GUIDs as GitHub makes them: UUIDs of version 1, that is times, as in the examples of
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers. It matters to an index, where those of one
 * moment lie together and random ones do not.
 */
export function nextGuid(): string {
  const hex = (++ticks).toString(16).padStart(16, '0');
  return `${hex.slice(8)}-${hex.slice(4, 8)}-1${hex.slice(1, 4)}-${NODE}`;
}
