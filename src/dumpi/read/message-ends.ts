import type { CallRecord } from './reader.js';

/** What a call says of a message that it sends or receives. */
export interface MessageSide {
  sends: boolean;
  /** Rank in the communicator; of a receive also `ANY_SOURCE`. */
  peer: number;
  /** Of a receive also `ANY_TAG`. */
  tag: number;
  comm: number;
  count: number;
  datatype: number;
  /** What has been received; null if the call does not say. */
  status: { source: number; tag: number } | null;
}

const NONE: readonly MessageSide[] = [];

/** The messages that a call sends or receives at once. Persistent requests only do so when they are started. */
export function messageSidesOf({ name, fields }: CallRecord): readonly MessageSide[] {
  switch (name) {
    case 'MPI_Send':
    case 'MPI_Bsend':
    case 'MPI_Ssend':
    case 'MPI_Rsend':
    case 'MPI_Isend':
    case 'MPI_Ibsend':
    case 'MPI_Issend':
    case 'MPI_Irsend':
      return [sentBy(fields)];
    case 'MPI_Recv':
      return [receivedBy(fields, fields.status)];
    case 'MPI_Irecv':
      return [receivedBy(fields, null)];
    case 'MPI_Sendrecv': {
      const { sendcount, sendtype, dest, sendtag, comm, status } = fields;
      const { recvcount: count, recvtype: datatype, source, recvtag: tag } = fields;
      return [
        sentBy({ count: sendcount, datatype: sendtype, dest, tag: sendtag, comm }),
        receivedBy({ count, datatype, source, tag, comm }, status),
      ];
    }
    case 'MPI_Sendrecv_replace': {
      const { count, datatype, dest, sendtag, source, recvtag, comm, status } = fields;
      return [
        sentBy({ count, datatype, dest, tag: sendtag, comm }),
        receivedBy({ count, datatype, source, tag: recvtag, comm }, status),
      ];
    }
    default:
      return NONE;
  }
}

/** The message of a call that sends, or that prepares to. */
export function sentBy(call: {
  count: number;
  datatype: number;
  dest: number;
  tag: number;
  comm: number;
}): MessageSide {
  const { count, datatype, dest: peer, tag, comm } = call;
  return { sends: true, peer, tag, comm, count, datatype, status: null };
}

/** The message of a call that receives, or that prepares to. */
export function receivedBy(
  call: { count: number; datatype: number; source: number; tag: number; comm: number },
  status: MessageSide['status'],
): MessageSide {
  const { count, datatype, source: peer, tag, comm } = call;
  return { sends: false, peer, tag, comm, count, datatype, status };
}
