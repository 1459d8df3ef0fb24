import { ANY_SOURCE, ANY_TAG } from '../constants.js';
import type { CallRecord } from './call-record.js';

/** A message as the call that sends or receives it describes it. */
export interface MessageSide {
  sends: boolean;
  /** Rank in the communicator; `ANY_SOURCE` of a receive that does not say whom it is from. */
  peer: number;
  /** `ANY_TAG` of a receive that does not say which tag it had. */
  tag: number;
  comm: number;
  count: number;
  datatype: number;
}

/** Source, tag and bytes of a message that a call has received. */
interface Status {
  source: number;
  tag: number;
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

/** The message that each start of a persistent request sends or receives, if a call makes such a request. */
export function preparedBy({ name, fields }: CallRecord): MessageSide | undefined {
  switch (name) {
    case 'MPI_Send_init':
    case 'MPI_Bsend_init':
    case 'MPI_Ssend_init':
    case 'MPI_Rsend_init':
      return sentBy(fields);
    case 'MPI_Recv_init':
      return receivedBy(fields, null);
    default:
      return undefined;
  }
}

function sentBy(call: {
  count: number;
  datatype: number;
  dest: number;
  tag: number;
  comm: number;
}): MessageSide {
  const { count, datatype, dest: peer, tag, comm } = call;
  return { sends: true, peer, tag, comm, count, datatype };
}

/** Where source or tag may be any, the status decides. A negative one in it says nothing. */
function receivedBy(
  call: { count: number; datatype: number; source: number; tag: number; comm: number },
  status: Status | null,
): MessageSide {
  const { count, datatype, source, tag, comm } = call;
  const peer =
    source === ANY_SOURCE && status !== null && status.source >= 0 ? status.source : source;
  const itsTag = tag === ANY_TAG && status !== null && status.tag >= 0 ? status.tag : tag;
  return { sends: false, peer, tag: itsTag, comm, count, datatype };
}

/** Whether a receive may have got a message from anyone, or with any tag. */
export function acceptsAny({
  sends,
  peer,
  tag,
}: Pick<MessageSide, 'sends' | 'peer' | 'tag'>): boolean {
  return !sends && (peer === ANY_SOURCE || tag === ANY_TAG);
}
