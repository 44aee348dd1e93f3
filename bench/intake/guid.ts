/** The offset of UUIDs version 1 in units of 100 ns: from the start of the Gregorian calendar to 1970. */
const GREGORIAN = 0x01b21dd213814000n;
const NODE = '81ab-4c9367dc0958';

let ticks = GREGORIAN + BigInt(Date.now()) * 10_000n;

/**
 * GUIDs as GitHub makes them: UUIDs of version 1, which contain a time, as in the examples of
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers. An index stores those of
 * one moment together, unlike random ones.
 */
export function nextGuid(): string {
  const hex = (++ticks).toString(16).padStart(16, '0');
  return `${hex.slice(8)}-${hex.slice(4, 8)}-1${hex.slice(1, 4)}-${NODE}`;
}
