/** Labels of a metric, by their names. */
export type Labels = Readonly<Record<string, string>>;
