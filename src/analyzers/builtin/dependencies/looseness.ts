/** A range that includes all future versions. */
export const UNBOUNDED = 4;

/** How much a range allows, from 0 (one version) to `UNBOUNDED`. */
export function looseness(range: string): number {
  const text = range.trim().replace(/^npm:.*@/, '');
  if (/^(?:\*|x|latest|next)?$/i.test(text) || (/^>=?/.test(text) && !text.includes('<'))) return UNBOUNDED;
  if (
    /^=?v?\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/.test(text) ||
    /^(?:workspace|file|link|portal|catalog):/.test(text)
  )
    return 0;
  if (/^~[^ |]+$/.test(text)) return 1;
  if (/^\^[^ |]+$/.test(text)) return 2;
  return 3;
}
