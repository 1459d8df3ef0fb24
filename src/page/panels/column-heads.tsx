interface ColumnHeadsProps {
  words: readonly string[];
  numbers?: readonly string[];
}

/** The head of a table: columns of words, then columns of numbers. */
export function ColumnHeads({ words, numbers = [] }: ColumnHeadsProps) {
  return (
    <thead>
      <tr>
        {words.map((title) => (
          <th key={title} scope="col">
            {title}
          </th>
        ))}
        {numbers.map((title) => (
          <th key={title} scope="col" class="number">
            {title}
          </th>
        ))}
      </tr>
    </thead>
  );
}
