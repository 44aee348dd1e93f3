import { parser } from '@prometheus-io/lezer-promql';

/** What an expression of PromQL reads. */
export interface Uses {
  metrics: { name: string; matchers: { label: string; operator: string; value: string }[] }[];
  /** The labels that it groups or joins by. */
  grouping: string[];
}

/** @throws Error if it is not valid, with the rest of the text from there */
export function usesOf(expression: string): Uses {
  const uses: Uses = { metrics: [], grouping: [] };
  const text = ({ from, to }: { from: number; to: number }) => expression.slice(from, to);
  parser.parse(expression).iterate({
    enter(node) {
      if (node.type.isError) throw new Error(`not PromQL, from here: ${expression.slice(node.from)}`);
      if (node.name === 'VectorSelector')
        uses.metrics.push({ name: text(node.node.getChild('Identifier') ?? node), matchers: [] });
      if (node.name === 'UnquotedLabelMatcher') {
        const [label = '', operator = '', value = ''] = ['LabelName', 'MatchOp', 'StringLiteral'].map(
          (part) => text(node.node.getChild(part) ?? { from: 0, to: 0 }),
        );
        uses.metrics.at(-1)?.matchers.push({ label, operator, value: value.slice(1, -1) });
      }
      if (node.name === 'GroupingLabels')
        uses.grouping.push(...node.node.getChildren('LabelName').map((label) => text(label)));
    },
  });
  return uses;
}
