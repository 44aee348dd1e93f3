import type { Node } from './syntax.ts';

/** A weakness at a place of a file. Lines count from 1. */
export interface Weakness {
  rule: DataFlowRule;
  line: number;
  endLine: number;
  /** How the value gets there, as the end of a sentence. */
  way: string;
  /** The other lines on its way. */
  alsoAt: readonly number[];
  /**
   * What its text can be replaced by without any other change of what the program does: that of the node, or from its
   * begin through the end of another one.
   */
  fix?: { node: Node; through?: Node; text: string };
}

export type DataFlowRule =
  | 'prototype-pollution'
  | 'command-injection'
  | 'argument-injection'
  | 'code-injection'
  | 'path-traversal'
  | 'archive-traversal'
  | 'cross-site-scripting'
  | 'request-forgery'
  | 'open-redirect'
  | 'nosql-injection'
  | 'sql-injection'
  | 'timing-unsafe-comparison'
  | 'open-cors'
  | 'regexp-injection'
  | 'exponential-regexp'
  | 'slow-regexp'
  | 'not-analysed';
