import { create, createFileRegistry } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, file_google_protobuf_wrappers } from '@bufbuild/protobuf/wkt';

const text = '.google.protobuf.StringValue';
const wrappers = file_google_protobuf_wrappers.proto;
const file = create(FileDescriptorProtoSchema, {
  name: 'shop.proto',
  package: 'shop',
  syntax: 'proto3',
  dependency: [wrappers.name],
  service: [
    {
      name: 'Shop',
      method: [
        { name: 'Call', inputType: text, outputType: text },
        { name: 'List', inputType: text, outputType: text, serverStreaming: true },
      ],
    },
  ],
});

/** A service that no code was generated for. */
export const Shop = createFileRegistry(file, (name) =>
  name === wrappers.name ? wrappers : undefined,
).getService('shop.Shop');
