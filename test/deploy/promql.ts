import { parser } from '@prometheus-io/lezer-promql';

interface Aggregation {
  operator: string;
  grouping: string[];
  /** Whether it keeps all labels but those of `grouping`, instead of only those. */
  isWithout: boolean;
}

/** What an expression of PromQL reads. */
export interface Uses {
  metrics: {
    name: string;
    matchers: { label: string; operator: string; value: string }[];
    /** What it is aggregated with, such as `sum`, from the innermost to the outermost. */
    aggregations: Aggregation[];
  }[];
  /** The labels that it groups or joins by. */
  grouping: string[];
}

type Node = ReturnType<typeof parser.parse>['topNode'];

/** @throws Error if it is not valid, with the rest of the text from there */
export function usesOf(expression: string): Uses {
  const uses: Uses = { metrics: [], grouping: [] };
  const text = ({ from, to }: { from: number; to: number }) => expression.slice(from, to);
  const labelsIn = (node: Node | null) => (node?.getChildren('LabelName') ?? []).map((label) => text(label));

  function aggregationsOf(node: Node): Aggregation[] {
    const above: Aggregation[] = [];
    for (let parent = node.parent; parent; parent = parent.parent) {
      if (parent.name !== 'AggregateExpr') continue;
      const modifier = parent.getChild('AggregateModifier');
      above.push({
        operator: text(parent.getChild('AggregateOp') ?? parent),
        grouping: labelsIn(modifier?.getChild('GroupingLabels') ?? null),
        isWithout: modifier ? Boolean(modifier.getChild('Without')) : false,
      });
    }
    return above;
  }

  parser.parse(expression).iterate({
    enter(node) {
      if (node.type.isError) throw new Error(`not PromQL, from here: ${expression.slice(node.from)}`);
      if (node.name === 'VectorSelector')
        uses.metrics.push({
          name: text(node.node.getChild('Identifier') ?? node),
          matchers: [],
          aggregations: aggregationsOf(node.node),
        });
      if (node.name === 'UnquotedLabelMatcher') {
        const [label = '', operator = '', value = ''] = ['LabelName', 'MatchOp', 'StringLiteral'].map(
          (part) => text(node.node.getChild(part) ?? { from: 0, to: 0 }),
        );
        uses.metrics.at(-1)?.matchers.push({ label, operator, value: value.slice(1, -1) });
      }
      if (node.name === 'GroupingLabels') uses.grouping.push(...labelsIn(node.node));
    },
  });
  return uses;
}
