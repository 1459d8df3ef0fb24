/**
 * Every call that the format has a record for, the only list of their arguments: the encoders
 * are compiled from this table, the readers walk it.
 *
 * A line is a call with the fields of its record in the order of their bytes, written as C would:
 * a type and a name. The types and their widths are in {@link fieldEncodings}.
 *
 * - `int dims[ndim]` is an array, stored as an i32 count and the elements; a legal record has as many
 *   as the field in brackets says, or none (NULL). `chars argv[]` counts for itself.
 * - `int ranges[count][3]` is an array of arrays, each with a count of its own.
 * - `chars name(resultlen)` is a string whose length a later field repeats.
 * - `int recvcount?` is only in the record of the root: where `commrank` or `oldcommrank` equals
 *   `root`.
 *
 * The order of the lines is the order of the labels: see {@link labelOf}. The names are those of
 * libdumpi, its misspelling of `displacments` included.
 */
export const callSignatures = {
  MPI_Send: 'int count, datatype datatype, dest dest, tag tag, comm comm',
  MPI_Recv: 'int count, datatype datatype, source source, tag tag, comm comm, status status',
  MPI_Get_count: 'status status, datatype datatype, int count',
  MPI_Bsend: 'int count, datatype datatype, dest dest, tag tag, comm comm',
  MPI_Ssend: 'int count, datatype datatype, dest dest, tag tag, comm comm',
  MPI_Rsend: 'int count, datatype datatype, dest dest, tag tag, comm comm',
  MPI_Buffer_attach: 'int size',
  MPI_Buffer_detach: 'int size',
  MPI_Isend: 'int count, datatype datatype, dest dest, int tag, comm comm, request request',
  MPI_Ibsend: 'int count, datatype datatype, dest dest, tag tag, comm comm, request request',
  MPI_Issend: 'int count, datatype datatype, dest dest, tag tag, comm comm, request request',
  MPI_Irsend: 'int count, datatype datatype, dest dest, tag tag, comm comm, request request',
  MPI_Irecv: 'int count, datatype datatype, source source, tag tag, comm comm, request request',
  MPI_Wait: 'request request, status status',
  MPI_Test: 'request request, int flag, status status',
  MPI_Request_free: 'request request',
  MPI_Waitany: 'int count, request requests[count], int index, status status',
  MPI_Testany: 'int count, request requests[count], int index, int flag, status status',
  MPI_Waitall: 'int count, request requests[count], status statuses[count]',
  MPI_Testall: 'int count, request requests[count], int flag, status statuses[count]',
  MPI_Waitsome:
    'int count, request requests[count], int outcount, int indices[outcount], status statuses[outcount]',
  MPI_Testsome:
    'int count, request requests[count], int outcount, int indices[outcount], status statuses[outcount]',
  MPI_Iprobe: 'source source, tag tag, comm comm, int flag, status status',
  MPI_Probe: 'source source, tag tag, comm comm, status status',
  MPI_Cancel: 'request request',
  MPI_Test_cancelled: 'status status, int cancelled',
  MPI_Send_init: 'int count, datatype datatype, dest dest, tag tag, comm comm, request request',
  MPI_Bsend_init: 'int count, datatype datatype, dest dest, tag tag, comm comm, request request',
  MPI_Ssend_init: 'int count, datatype datatype, dest dest, tag tag, comm comm, request request',
  MPI_Rsend_init: 'int count, datatype datatype, dest dest, tag tag, comm comm, request request',
  MPI_Recv_init: 'int count, datatype datatype, source source, tag tag, comm comm, request request',
  MPI_Start: 'request request',
  MPI_Startall: 'int count, request requests[count]',
  MPI_Sendrecv:
    'int sendcount, datatype sendtype, dest dest, tag sendtag, int recvcount, datatype recvtype, source source, tag recvtag, comm comm, status status',
  MPI_Sendrecv_replace:
    'int count, datatype datatype, dest dest, tag sendtag, source source, tag recvtag, comm comm, status status',
  MPI_Type_contiguous: 'int count, datatype oldtype, datatype newtype',
  MPI_Type_vector: 'int count, int blocklength, int stride, datatype oldtype, datatype newtype',
  MPI_Type_hvector: 'int count, int blocklength, int stride, datatype oldtype, datatype newtype',
  MPI_Type_indexed:
    'int count, int lengths[count], int indices[count], datatype oldtype, datatype newtype',
  MPI_Type_hindexed:
    'int count, int lengths[count], int indices[count], datatype oldtype, datatype newtype',
  MPI_Type_struct:
    'int count, int lengths[count], int indices[count], datatype oldtypes[count], datatype newtype',
  MPI_Address: 'int address',
  MPI_Type_extent: 'datatype datatype, int extent',
  MPI_Type_size: 'datatype datatype, int size',
  MPI_Type_lb: 'datatype datatype, int lb',
  MPI_Type_ub: 'datatype datatype, int ub',
  MPI_Type_commit: 'datatype datatype',
  MPI_Type_free: 'datatype datatype',
  MPI_Get_elements: 'status status, datatype datatype, int elements',
  MPI_Pack:
    'int incount, datatype datatype, int outcount, int position.in, int position.out, comm comm',
  MPI_Unpack:
    'int incount, int position.in, int position.out, int outcount, datatype datatype, comm comm',
  MPI_Pack_size: 'int incount, datatype datatype, comm comm, int size',
  MPI_Barrier: 'comm comm',
  MPI_Bcast: 'int count, datatype datatype, int root, comm comm',
  MPI_Gather:
    'int commrank, int sendcount, datatype sendtype, int root, comm comm, int recvcount?, datatype recvtype?',
  MPI_Gatherv:
    'int commrank, int commsize, int sendcount, datatype sendtype, int root, comm comm, int recvcounts[commsize]?, int displs[commsize]?, datatype recvtype',
  MPI_Scatter:
    'int commrank, int recvcount, datatype recvtype, int root, comm comm, int sendcount?, datatype sendtype?',
  MPI_Scatterv:
    'int commrank, int commsize, datatype sendtype, int recvcount, datatype recvtype, int root, comm comm, int sendcounts[commsize]?, int displs[commsize]?',
  MPI_Allgather: 'int sendcount, datatype sendtype, int recvcount, datatype recvtype, comm comm',
  MPI_Allgatherv:
    'int commsize, int sendcount, datatype sendtype, int recvcounts[commsize], int displs[commsize], datatype recvtype, comm comm',
  MPI_Alltoall: 'int sendcount, datatype sendtype, int recvcount, datatype recvtype, comm comm',
  MPI_Alltoallv:
    'int commsize, int sendcounts[commsize], int senddispls[commsize], datatype sendtype, int recvcounts[commsize], int recvdispls[commsize], datatype recvtype, comm comm',
  MPI_Reduce: 'int count, datatype datatype, op op, int root, comm comm',
  MPI_Op_create: 'int commute, op op',
  MPI_Op_free: 'op op',
  MPI_Allreduce: 'int count, datatype datatype, op op, comm comm',
  MPI_Reduce_scatter: 'int commsize, int recvcounts[commsize], datatype datatype, op op, comm comm',
  MPI_Scan: 'int count, datatype datatype, op op, comm comm',
  MPI_Group_size: 'group group, int size',
  MPI_Group_rank: 'group group, int rank',
  MPI_Group_translate_ranks:
    'group group1, int count, int ranks1[count], group group2, int ranks2[count]',
  MPI_Group_compare: 'group group1, group group2, comparison result',
  MPI_Comm_group: 'comm comm, group group',
  MPI_Group_union: 'group group1, group group2, group newgroup',
  MPI_Group_intersection: 'group group1, group group2, group newgroup',
  MPI_Group_difference: 'group group1, group group2, group newgroup',
  MPI_Group_incl: 'group group, int count, int ranks[count], group newgroup',
  MPI_Group_excl: 'group group, int count, int ranks[count], group newgroup',
  MPI_Group_range_incl: 'group group, int count, int ranges[count][3], group newgroup',
  MPI_Group_range_excl: 'group group, int count, int ranges[count][3], group newgroup',
  MPI_Group_free: 'group group',
  MPI_Comm_size: 'comm comm, int size',
  MPI_Comm_rank: 'comm comm, int rank',
  MPI_Comm_compare: 'comm comm1, comm comm2, comparison result',
  MPI_Comm_dup: 'comm oldcomm, comm newcomm',
  MPI_Comm_create: 'comm oldcomm, group group, comm newcomm',
  MPI_Comm_split: 'comm oldcomm, int color, int key, comm newcomm',
  MPI_Comm_free: 'comm comm',
  MPI_Comm_test_inter: 'comm comm, int inter',
  MPI_Comm_remote_size: 'comm comm, int size',
  MPI_Comm_remote_group: 'comm comm, group group',
  MPI_Intercomm_create:
    'comm localcomm, int localleader, comm remotecomm, int remoteleader, tag tag, comm newcomm',
  MPI_Intercomm_merge: 'comm comm, int high, comm newcomm',
  MPI_Keyval_create: 'keyval key',
  MPI_Keyval_free: 'keyval key',
  MPI_Attr_put: 'comm comm, int key',
  MPI_Attr_get: 'comm comm, int key, int flag',
  MPI_Attr_delete: 'comm comm, int key',
  MPI_Topo_test: 'comm comm, topology topo',
  MPI_Cart_create:
    'comm oldcomm, int ndim, int dims[ndim], int periods[ndim], int reorder, comm newcomm',
  MPI_Dims_create: 'int nodes, int ndim, int dims.in[ndim], int dims.out[ndim]',
  MPI_Graph_create:
    'int numedges, comm oldcomm, int nodes, int index[nodes], int edges[numedges], int reorder, comm newcomm',
  MPI_Graphdims_get: 'comm comm, int nodes, int edges',
  MPI_Graph_get:
    'int totedges, int totnodes, comm comm, int maxindex, int maxedges, int index[totnodes], int edges[totedges]',
  MPI_Cartdim_get: 'comm comm, int ndim',
  MPI_Cart_get:
    'int ndim, comm comm, int maxdims, int dims[ndim], int periods[ndim], int coords[ndim]',
  MPI_Cart_rank: 'int ndim, comm comm, int coords[ndim], int rank',
  MPI_Cart_coords: 'int ndim, comm comm, int rank, int maxdims, int coords[ndim]',
  MPI_Graph_neighbors_count: 'comm comm, int rank, int nneigh',
  MPI_Graph_neighbors: 'int nneigh, comm comm, int rank, int maxneighbors, int neighbors[nneigh]',
  MPI_Cart_shift: 'comm comm, int direction, int displ, source source, dest dest',
  MPI_Cart_sub: 'int ndim, comm oldcomm, int remain_dims[ndim], comm newcomm',
  MPI_Cart_map: 'comm comm, int ndim, int dims[ndim], int period[ndim], int newrank',
  MPI_Graph_map:
    'int numedges, comm comm, int nodes, int index[nodes], int edges[numedges], int newrank',
  MPI_Get_processor_name: 'chars name(resultlen), int resultlen',
  MPI_Get_version: 'int version, int subversion',
  MPI_Errhandler_create: 'errhandler errhandler',
  MPI_Errhandler_set: 'comm comm, errhandler errhandler',
  MPI_Errhandler_get: 'comm comm, errhandler errhandler',
  MPI_Errhandler_free: 'errhandler errhandler',
  MPI_Error_string: 'int errorcode, chars errorstring(resultlen), int resultlen',
  MPI_Error_class: 'int errorcode, int errorclass',
  MPI_Wtime: '',
  MPI_Wtick: '',
  MPI_Init: 'chars argv[]',
  MPI_Finalize: '',
  MPI_Initialized: 'int result',
  MPI_Abort: 'comm comm, int errorcode',
  // 128 is MPI_Pcontrol, which leaves no record.
  MPI_Close_port: 'chars portname',
  MPI_Comm_accept: 'chars portname, info info, int root, comm oldcomm, comm newcomm',
  MPI_Comm_connect: 'chars portname, info info, int root, comm oldcomm, comm newcomm',
  MPI_Comm_disconnect: 'comm comm',
  MPI_Comm_get_parent: 'comm parent',
  MPI_Comm_join: 'int fd, comm comm',
  MPI_Comm_spawn:
    'int oldcommrank, int root, comm oldcomm, comm newcomm, chars command?, chars argv[]?, int maxprocs?, info info?, errcode errcodes[maxprocs]?',
  MPI_Comm_spawn_multiple:
    'int totprocs, int oldcommrank, int root, comm oldcomm, comm newcomm, int count?, chars commands[count]?, chars argvs[count][]?, int maxprocs[count]?, info info[count]?, errcode errcodes[totprocs]?',
  MPI_Lookup_name: 'chars servicename, info info, chars portname',
  MPI_Open_port: 'info info, chars portname',
  MPI_Publish_name: 'chars servicename, info info, chars portname',
  MPI_Unpublish_name: 'chars servicename, info info, chars portname',
  MPI_Accumulate:
    'int origincount, datatype origintype, int targetrank, int targetdisp, int targetcount, datatype targettype, op op, win win',
  MPI_Get:
    'int origincount, datatype origintype, int targetrank, int targetdisp, int targetcount, datatype targettype, win win',
  MPI_Put:
    'int origincount, datatype origintype, int targetrank, int targetdisp, int targetcount, datatype targettype, win win',
  MPI_Win_complete: 'win win',
  MPI_Win_create: 'int size, int dispunit, info info, comm comm, win win',
  MPI_Win_fence: 'winAssert assertion, win win',
  MPI_Win_free: 'win win',
  MPI_Win_get_group: 'win win, group group',
  MPI_Win_lock: 'locktype locktype, int winrank, winAssert assertion, win win',
  MPI_Win_post: 'group group, winAssert assertion, win win',
  MPI_Win_start: 'group group, winAssert assertion, win win',
  MPI_Win_test: 'win win, int flag',
  MPI_Win_unlock: 'int winrank, win win',
  MPI_Win_wait: 'win win',
  MPI_Alltoallw:
    'int commsize, int sendcounts[commsize], int senddispls[commsize], datatype sendtypes[commsize], int recvcounts[commsize], int recvdispls[commsize], datatype recvtypes[commsize], comm comm',
  MPI_Exscan: 'int count, datatype datatype, op op, comm comm',
  MPI_Add_error_class: 'int errorclass',
  MPI_Add_error_code: 'int errorclass, int errorcode',
  MPI_Add_error_string: 'int errorcode, chars errorstring',
  MPI_Comm_call_errhandler: 'comm comm, int errorcode',
  MPI_Comm_create_keyval: 'commKeyval keyval',
  MPI_Comm_delete_attr: 'comm comm, commKeyval keyval',
  MPI_Comm_free_keyval: 'commKeyval keyval',
  MPI_Comm_get_attr: 'comm comm, commKeyval keyval, int flag',
  MPI_Comm_get_name: 'comm comm, chars name(resultlen), int resultlen',
  MPI_Comm_set_attr: 'comm comm, commKeyval keyval',
  MPI_Comm_set_name: 'comm comm, chars name',
  MPI_File_call_errhandler: 'file file, int errorcode',
  MPI_Grequest_complete: 'request request',
  MPI_Grequest_start: 'request request',
  MPI_Init_thread: 'chars argv[], threadlevel required, threadlevel provided',
  MPI_Is_thread_main: 'int flag',
  MPI_Query_thread: 'threadlevel supported',
  MPI_Status_set_cancelled: 'status status, int flag',
  MPI_Status_set_elements: 'status status, datatype datatype, int count',
  MPI_Type_create_keyval: 'typeKeyval keyval',
  MPI_Type_delete_attr: 'datatype datatype, typeKeyval keyval',
  MPI_Type_dup: 'datatype oldtype, datatype newtype',
  MPI_Type_free_keyval: 'typeKeyval keyval',
  MPI_Type_get_attr: 'datatype datatype, typeKeyval keyval, int flag',
  MPI_Type_get_contents:
    'int numdatatypes, int numaddresses, int numintegers, datatype datatype, int maxintegers, int maxaddresses, int maxdatatypes, int arrintegers[numintegers], int arraddresses[numaddresses], datatype arrdatatypes[numdatatypes]',
  MPI_Type_get_envelope:
    'datatype datatype, int numintegers, int numaddresses, int numdatatypes, combiner combiner',
  MPI_Type_get_name: 'datatype datatype, chars name, int resultlen',
  MPI_Type_set_attr: 'datatype datatype, typeKeyval keyval',
  MPI_Type_set_name: 'datatype datatype, chars name',
  MPI_Type_match_size: 'typeclass typeclass, int size, datatype datatype',
  MPI_Win_call_errhandler: 'win win, int errorcode',
  MPI_Win_create_keyval: 'winKeyval keyval',
  MPI_Win_delete_attr: 'win win, winKeyval keyval',
  MPI_Win_free_keyval: 'winKeyval keyval',
  MPI_Win_get_attr: 'win win, winKeyval keyval, int flag',
  MPI_Win_get_name: 'win win, chars name, int resultlen',
  MPI_Win_set_attr: 'win win, winKeyval keyval',
  MPI_Win_set_name: 'win win, chars name',
  MPI_Alloc_mem: 'int size, info info',
  MPI_Comm_create_errhandler: 'errhandler errhandler',
  MPI_Comm_get_errhandler: 'comm comm, errhandler errhandler',
  MPI_Comm_set_errhandler: 'comm comm, errhandler errhandler',
  MPI_File_create_errhandler: 'errhandler errhandler',
  MPI_File_get_errhandler: 'file file, errhandler errhandler',
  MPI_File_set_errhandler: 'file file, errhandler errhandler',
  MPI_Finalized: 'int flag',
  MPI_Free_mem: '',
  MPI_Get_address: 'int address',
  MPI_Info_create: 'info info',
  MPI_Info_delete: 'info info, chars key',
  MPI_Info_dup: 'info oldinfo, info newinfo',
  MPI_Info_free: 'info info',
  MPI_Info_get: 'info info, chars key, int valuelength, chars value, int flag',
  MPI_Info_get_nkeys: 'info info, int nkeys',
  MPI_Info_get_nthkey: 'info info, int n, chars key',
  MPI_Info_get_valuelen: 'info info, chars key, int valuelen, int flag',
  MPI_Info_set: 'info info, chars key, chars value',
  MPI_Pack_external:
    'chars datarep, int incount, datatype intype, int outcount, int position.in, int position.out',
  MPI_Pack_external_size: 'chars datarep, int incount, datatype datatype, int size',
  MPI_Request_get_status: 'request request, int flag, status status',
  MPI_Type_create_darray:
    'int size, int rank, int ndims, int gsizes[ndims], distribution distribs[ndims], int dargs[ndims], int psizes[ndims], ordering order, datatype oldtype, datatype newtype',
  MPI_Type_create_hindexed:
    'int count, int blocklengths[count], int displacements[count], datatype oldtype, datatype newtype',
  MPI_Type_create_hvector:
    'int count, int blocklength, int stride, datatype oldtype, datatype newtype',
  MPI_Type_create_indexed_block:
    'int count, int blocklength, int displacments[count], datatype oldtype, datatype newtype',
  MPI_Type_create_resized: 'datatype oldtype, int lb, int extent, datatype newtype',
  MPI_Type_create_struct:
    'int count, int blocklengths[count], int displacements[count], datatype oldtypes[count], datatype newtype',
  MPI_Type_create_subarray:
    'int ndims, int sizes[ndims], int subsizes[ndims], int starts[ndims], ordering order, datatype oldtype, datatype newtype',
  MPI_Type_get_extent: 'datatype datatype, int lb, int extent',
  MPI_Type_get_true_extent: 'datatype datatype, int lb, int extent',
  MPI_Unpack_external:
    'chars datarep, int insize, int position.in, int position.out, int outcount, datatype datatype',
  MPI_Win_create_errhandler: 'errhandler errhandler',
  MPI_Win_get_errhandler: 'win win, errhandler errhandler',
  MPI_Win_set_errhandler: 'win win, errhandler errhandler',
  MPI_File_open: 'comm comm, chars filename, filemode amode, info info, file file',
  MPI_File_close: 'file file',
  MPI_File_delete: 'chars filename, info info',
  MPI_File_set_size: 'file file, int64 size',
  MPI_File_preallocate: 'file file, int64 size',
  MPI_File_get_size: 'file file, int64 size',
  MPI_File_get_group: 'file file, group group',
  MPI_File_get_amode: 'file file, filemode amode',
  MPI_File_set_info: 'file file, info info',
  MPI_File_get_info: 'file file, info info',
  MPI_File_set_view:
    'file file, int64 offset, datatype hosttype, datatype filetype, chars datarep, info info',
  MPI_File_get_view: 'file file, int64 offset, datatype hosttype, datatype filetype, chars datarep',
  MPI_File_read_at: 'file file, int64 offset, int count, datatype datatype, status status',
  MPI_File_read_at_all: 'file file, int64 offset, int count, datatype datatype, status status',
  MPI_File_write_at: 'file file, int64 offset, int count, datatype datatype, status status',
  MPI_File_write_at_all: 'file file, int64 offset, int count, datatype datatype, status status',
  MPI_File_iread_at: 'file file, int64 offset, int count, datatype datatype, ioRequest request',
  MPI_File_iwrite_at: 'file file, int64 offset, int count, datatype datatype, ioRequest request',
  MPI_File_read: 'file file, int count, datatype datatype, status status',
  MPI_File_read_all: 'file file, int count, datatype datatype, status status',
  MPI_File_write: 'file file, int count, datatype datatype, status status',
  MPI_File_write_all: 'file file, int count, datatype datatype, status status',
  MPI_File_iread: 'file file, int count, datatype datatype, ioRequest request',
  MPI_File_iwrite: 'file file, int count, datatype datatype, ioRequest request',
  MPI_File_seek: 'file file, int64 offset, whence whence',
  MPI_File_get_position: 'file file, int64 offset',
  MPI_File_get_byte_offset: 'file file, int64 offset, int64 bytes',
  MPI_File_read_shared: 'file file, int count, datatype datatype, status status',
  MPI_File_write_shared: 'file file, int count, datatype datatype, status status',
  MPI_File_iread_shared: 'file file, int count, datatype datatype, ioRequest request',
  MPI_File_iwrite_shared: 'file file, int count, datatype datatype, ioRequest request',
  MPI_File_read_ordered: 'file file, int count, datatype datatype, status status',
  MPI_File_write_ordered: 'file file, int count, datatype datatype, status status',
  MPI_File_seek_shared: 'file file, int64 offset, whence whence',
  MPI_File_get_position_shared: 'file file, int64 offset',
  MPI_File_read_at_all_begin: 'file file, int64 offset, int count, datatype datatype',
  MPI_File_read_at_all_end: 'file file, status status',
  MPI_File_write_at_all_begin: 'file file, int64 offset, int count, datatype datatype',
  MPI_File_write_at_all_end: 'file file, status status',
  MPI_File_read_all_begin: 'file file, int count, datatype datatype',
  MPI_File_read_all_end: 'file file, status status',
  MPI_File_write_all_begin: 'file file, int count, datatype datatype',
  MPI_File_write_all_end: 'file file, status status',
  MPI_File_read_ordered_begin: 'file file, int count, datatype datatype',
  MPI_File_read_ordered_end: 'file file, status status',
  MPI_File_write_ordered_begin: 'file file, int count, datatype datatype',
  MPI_File_write_ordered_end: 'file file, status status',
  MPI_File_get_type_extent: 'file file, datatype datatype, int extent',
  MPI_Register_datarep: 'chars name',
  MPI_File_set_atomicity: 'file file, int flag',
  MPI_File_get_atomicity: 'file file, int flag',
  MPI_File_sync: 'file file',
  MPIO_Test: 'ioRequest request, int flag, status status',
  MPIO_Wait: 'ioRequest request, status status',
  MPIO_Testall: 'int count, ioRequest requests[count], int flag, status statuses[count]',
  MPIO_Waitall: 'int count, ioRequest requests[count], status statuses[count]',
  MPIO_Testany: 'int count, ioRequest requests[count], int flag, int index, status statuses[count]',
  MPIO_Waitany: 'int count, ioRequest requests[count], int index, status statuses[count]',
  MPIO_Waitsome:
    'int count, ioRequest requests[count], int outcount, int indices[outcount], status statuses[outcount]',
  MPIO_Testsome:
    'int count, ioRequest requests[count], int outcount, int indices[outcount], status statuses[outcount]',
  Function_enter: 'address fn',
  Function_exit: 'address fn',
} as const;

/** The name of a call that has a record: `'MPI_Send'`. */
export type CallName = keyof typeof callSignatures;

/** How a value is laid out in a record; integers are big-endian. */
export type FieldEncoding = 'i8' | 'u8' | 'i16' | 'i32' | 'i64' | 'u64' | 'chars' | 'status';

/**
 * Each type of the table with its width. What MPI calls a handle is a number: see constants.ts. A
 * string (`chars`) is an i32 length in bytes and the bytes, without a NUL. For `status` see layout.ts.
 */
export const fieldEncodings = {
  int: 'i32',
  int64: 'i64',
  address: 'u64',
  chars: 'chars',
  status: 'status',
  datatype: 'i16',
  comm: 'i16',
  group: 'i16',
  errhandler: 'i16',
  file: 'i16',
  info: 'i16',
  win: 'i16',
  keyval: 'i16',
  commKeyval: 'i16',
  typeKeyval: 'i16',
  winKeyval: 'i16',
  request: 'i32',
  ioRequest: 'i32',
  source: 'i32',
  dest: 'i32',
  tag: 'i32',
  errcode: 'i32',
  comparison: 'i8',
  ordering: 'i8',
  // One byte as well, but the format's own reader widens it without a sign.
  combiner: 'u8',
  distribution: 'u8',
  filemode: 'u8',
  locktype: 'u8',
  op: 'u8',
  threadlevel: 'u8',
  topology: 'u8',
  typeclass: 'u8',
  whence: 'u8',
  winAssert: 'u8',
} as const satisfies Record<string, FieldEncoding>;

/** A type of the table: `'int'`, `'datatype'`. */
export type FieldType = keyof typeof fieldEncodings;

/** What MPI reports of a message that has arrived. */
export interface Status {
  /** Bytes that were received (MPI's own count is of elements). */
  bytes: number;
  source: number;
  tag: number;
  /** 1 when the operation was cancelled, otherwise 0. */
  cancelled: number;
  /** MPI's error code, cut to a byte: -128 to 127. */
  error: number;
}

/** Integers of an array argument. */
export type Integers = readonly number[] | Int8Array | Int16Array | Int32Array;

/** What a caller gives for one element of a type. */
type Given<T> = T extends 'int64' | 'address'
  ? number | bigint
  : T extends 'chars'
    ? string
    : number;

/** What a caller gives for an array; null is C's NULL and stored like an empty array. */
type GivenArray<T> = T extends 'status'
  ? readonly Status[] | null
  : T extends 'chars'
    ? readonly string[] | null
    : Integers | null;

/** What a caller gives for an array of arrays. */
type GivenRows<T> = T extends 'chars'
  ? readonly (readonly string[])[] | null
  : readonly Integers[] | null;

/** What a caller gives for one value; null says that a status was ignored. */
type GivenOne<T> = T extends 'status' ? Status | null : Given<T>;

/** What a reader gives for one element. */
type Read<T> = T extends 'int64' | 'address'
  ? bigint
  : T extends 'chars'
    ? string
    : T extends 'status'
      ? Status
      : number;

/** What a reader gives for one value; a status that was ignored or not stored is null. */
type ReadOne<T> = T extends 'status' ? Status | null : Read<T>;

type Split<S extends string> = S extends ''
  ? never
  : S extends `${infer Field}, ${infer Rest}`
    ? Field | Split<Rest>
    : S;

/** The fields of a call as they stand in its signature. */
type FieldsOf<N extends CallName> = Split<(typeof callSignatures)[N]>;

/** The name of a field that every record of the call has; never for one of the root alone. */
type AlwaysName<F> = F extends `${string}?` ? never : NameOf<F>;
type RootName<F> = F extends `${infer Field}?` ? NameOf<Field> : never;
type NameOf<F> = F extends `${string} ${infer Rest}`
  ? Rest extends `${infer Name}[${string}` | `${infer Name}(${string}`
    ? Name
    : Rest
  : never;

type GivenFor<F> = F extends `${infer T} ${infer Rest}`
  ? Rest extends `${string}[${string}][${string}`
    ? GivenRows<T>
    : Rest extends `${string}[${string}`
      ? GivenArray<T>
      : GivenOne<T>
  : never;

type ReadFor<F> = F extends `${infer T} ${infer Rest}`
  ? Rest extends `${string}[${string}][${string}`
    ? Read<T>[][]
    : Rest extends `${string}[${string}`
      ? Read<T>[]
      : ReadOne<T>
  : never;

/** Makes an editor show the fields rather than how they were found. */
type Shown<T> = { [K in keyof T]: T[K] };

/**
 * What a caller gives for a call: `{ count: number; datatype: number; dest: number; … }`. Fields that
 * only the root's record has may be left out by the others.
 */
export type CallArguments<N extends CallName> = Shown<
  { [F in FieldsOf<N> as AlwaysName<F>]: GivenFor<F> } & {
    [F in FieldsOf<N> as RootName<F>]?: GivenFor<F>;
  }
>;

/** What a reader gives for a call. Fields that only the root's record has are absent elsewhere. */
export type CallFields<N extends CallName> = Shown<
  { [F in FieldsOf<N> as AlwaysName<F>]: ReadFor<F> } & {
    [F in FieldsOf<N> as RootName<F>]?: ReadFor<F>;
  }
>;

/** One field of a call's record. */
export interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly encoding: FieldEncoding;
  /** 0: one value, 1: an array, 2: an array of arrays. */
  readonly dimensions: 0 | 1 | 2;
  /** The field that says how many elements an array has, or the bytes of a string. */
  readonly count: string | undefined;
  /** How many elements each inner array has, where the call says so. */
  readonly inner: number | undefined;
  /** Whether only the record of the root has it. */
  readonly rootOnly: boolean;
}

/** A call with its record's fields in the order of their bytes. */
export interface Call {
  readonly label: number;
  readonly name: CallName;
  readonly fields: readonly Field[];
  /** The field that is compared with `root`, where the call has fields of the root alone. */
  readonly rankField: 'commrank' | 'oldcommrank' | undefined;
}

function parseField(text: string): Field {
  const match = /^(\w+) ([\w.]+)(?:\((\w+)\)|\[(\w*)\](?:\[(\d*)\])?)?(\?)?$/.exec(text);
  if (match === null) throw new Error(`no field: ${text}`);
  const [, type, name, length, count, inner, root] = match as unknown as [
    string,
    FieldType,
    string,
    ...(string | undefined)[],
  ];
  return {
    name,
    type,
    encoding: fieldEncodings[type],
    dimensions: inner !== undefined ? 2 : count !== undefined ? 1 : 0,
    count: (length ?? count) || undefined,
    inner: inner ? Number(inner) : undefined,
    rootOnly: root !== undefined,
  };
}

/** MPI_Pcontrol: the footer counts it, but no record. */
export const PCONTROL_LABEL = 128;
/** The index of the total in the footer's counts. */
export const TOTAL_LABEL = 290;
/** Counts in a footer: one for each label up to the total. */
export const COUNTED_LABELS = 291;
/** Labels of a function's entry and exit; neither has a count. */
export const FUNCTION_ENTER_LABEL = 291;
export const FUNCTION_EXIT_LABEL = 292;
/** Lies where the next call's label would, and ends the body. */
export const END_OF_STREAM_LABEL = 293;

function parseCall([name, signature]: [string, string], index: number): Call {
  const fields = signature === '' ? [] : signature.split(', ').map(parseField);
  const names = fields.map((field) => field.name);
  const rootOnly = fields.some((field) => field.rootOnly);
  const rankField = names.includes('commrank') ? 'commrank' : 'oldcommrank';
  // MPI_Pcontrol and the total have labels but no lines.
  const label = index < PCONTROL_LABEL ? index : index + 1 < TOTAL_LABEL ? index + 1 : index + 2;
  return { label, name: name as CallName, fields, rankField: rootOnly ? rankField : undefined };
}

/** Every call, in the order of the labels. */
export const calls: readonly Call[] = Object.entries<string>(callSignatures).map(parseCall);

const byName: ReadonlyMap<string, Call> = new Map(calls.map((call) => [call.name, call]));
const byLabel: (Call | undefined)[] = [];
for (const call of calls) byLabel[call.label] = call;

/** The call of a name, or undefined when the format has no record for such a call. */
export function callNamed(name: string): Call | undefined {
  return byName.get(name);
}

/** The call of a label, or undefined when no record has that label. */
export function callLabelled(label: number): Call | undefined {
  return byLabel[label];
}

/**
 * The label of a call: 0 to 289 without 128, which is MPI_Pcontrol's; 291 and 292 for the entry and
 * the exit of a function.
 */
export function labelOf(name: CallName): number {
  return byName.get(name)!.label;
}

/** The name that a label has in the footer: that of its call, of MPI_Pcontrol or of the total. */
export function countName(label: number): string {
  if (label === PCONTROL_LABEL) return 'MPI_Pcontrol';
  return byLabel[label]?.name ?? 'MPI_ALL_FUNCTIONS';
}
