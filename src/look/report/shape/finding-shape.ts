/** The rule of a finding: docs/findings.md has a paragraph on each. */
export type FindingRule =
  | 'died'
  | 'failures'
  | 'repeated calls'
  | 'blocking line'
  | 'pool is the queue'
  | 'dominated tail'
  | 'constant timeout'
  | 'retries'
  | 'collections'
  | 'loop used up'
  | 'memory grows'
  | 'outside requests';

/** Something that is wrong, in a sentence. */
export interface Finding {
  rule: FindingRule;
  /** The loss decides the order. */
  loss: 'process' | 'requests' | 'time';
  /** How much: open requests of a process that died, requests that failed, or ns. */
  lost: number;
  service: string | null;
  text: string;
  /** The evidence of the sentence, with figures. */
  evidence: string;
  /** Where to go on: a trace that shows it, a section of the report, and values of `--where`. */
  trace: string | null;
  section: string | null;
  where: string[];
}
