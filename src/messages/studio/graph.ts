import dagre from '@dagrejs/dagre';
import { html } from 'hono/html';
import { topologicalOrder } from '../../domain/chain/graph.ts';
import { clip } from '../text/pretty.ts';
import type { Html } from './layout.ts';
import { said } from './untrusted.ts';

/** A step as the graph shows it. */
export interface ShownNode {
  id: string;
  dependsOn: readonly string[];
  /** Where it links to, if anywhere. */
  address?: string | undefined;
  /** A mark and words for its state. Without them, it is only a name. */
  mark?: string;
  words?: string;
  /** The state as a class of the style. */
  state?: string;
  isSelected?: boolean;
}

const WIDTH = 168;
const HEIGHT = 52;
const LETTERS = 20;

/** A layout takes time that grows with the columns that lines cross: 50 steps that each wait for all before them took 9 s. */
const MAX_CROSSED = 150;

/** Steps from left to right, as SVG. What it shows is beside it in words, too. */
export function stepGraph(nodes: readonly ShownNode[], name: string): Html {
  const edges = drawnEdges(nodes);
  if (edges === undefined)
    return html`<p class="quiet">These steps wait for each other in too many ways to be drawn.</p>`;
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 14, ranksep: 36, marginx: 4, marginy: 4 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of nodes) graph.setNode(id, { width: WIDTH, height: HEIGHT });
  for (const [before, after] of edges) graph.setEdge(before, after);
  dagre.layout(graph);
  const { width = WIDTH, height = HEIGHT } = graph.graph();
  const size = { width: Math.ceil(width), height: Math.ceil(height) };
  return html`<div class="wide" tabindex="0" role="group" aria-label="${name}">
<svg class="graph" width="${size.width}" height="${size.height}" viewBox="0 0 ${size.width} ${size.height}">
${graph.edges().map((edge: { v: string; w: string }) => html`<polyline class="edge" points="${pointsOf(graph.edge(edge).points)}"/>\n`)}
${nodes.map((node) => html`${linked(node, nodeBox(node, graph.node(node.id)))}\n`)}
</svg>
</div>`;
}

/**
 * The lines between steps, without those that others imply: a step that waits for b also waits for what b waits for. `undefined` if
 * they are too many.
 */
function drawnEdges(nodes: readonly ShownNode[]): [before: string, after: string][] | undefined {
  const all = new Map<string, { column: number; waitsFor: Set<string> }>();
  const edges: [string, string][] = [];
  let crossed = 0;
  const byId = new Map(nodes.map((node) => [node.id, node]));
  for (const id of topologicalOrder(nodes)) {
    const known = (byId.get(id)?.dependsOn ?? []).flatMap((before) => {
      const found = all.get(before);
      return found ? [{ before, ...found }] : [];
    });
    const column = Math.max(0, ...known.map((one) => one.column + 1));
    for (const { before, column: from } of known) {
      if (known.some(({ waitsFor }) => waitsFor.has(before))) continue;
      edges.push([before, id]);
      crossed += column - from;
    }
    all.set(id, {
      column,
      waitsFor: new Set(known.flatMap(({ before, waitsFor }) => [before, ...waitsFor])),
    });
  }
  return crossed > MAX_CROSSED ? undefined : edges;
}

function linked({ address, id, words }: ShownNode, box: Html): Html {
  if (address === undefined) return box;
  return html`<a href="${address}" aria-label="${said(id, 60)}${words === undefined ? '' : `: ${words}`}">${box}</a>`;
}

function nodeBox(
  { id, mark, words, state = '', isSelected }: ShownNode,
  { x = 0, y = 0 }: { x?: number; y?: number },
): Html {
  const [left, top] = [Math.round(x - WIDTH / 2), Math.round(y - HEIGHT / 2)];
  const isPlain = words === undefined;
  return html`<g class="node ${state}${isSelected ? ' selected' : ''}"><rect x="${left}" y="${top}" width="${WIDTH}" height="${HEIGHT}" rx="6"/><text x="${left + 10}" y="${top + (isPlain ? 31 : 22)}">${clip(said(id, 60), LETTERS)}</text>${
    isPlain
      ? ''
      : html`<text class="small" x="${left + 10}" y="${top + 41}">${mark} ${clip(said(words, 80), LETTERS + 4)}</text>`
  }</g>`;
}

function pointsOf(points: readonly { x: number; y: number }[] = []): string {
  return points.map(({ x, y }) => `${Math.round(x)},${Math.round(y)}`).join(' ');
}
