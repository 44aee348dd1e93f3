/** A secret's position in a text, and its kind. */
export interface Span {
  start: number;
  end: number;
  name: string;
}

/** In order and without overlaps. Overlapping spans become one, with the name of the first. */
export function merged(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = result.at(-1);
    if (last && span.start < last.end) last.end = Math.max(last.end, span.end);
    else result.push({ ...span });
  }
  return result;
}
