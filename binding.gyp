{
  "variables": { "build_bench%": 0, "build_torture%": 0 },
  "targets": [
    {
      "target_name": "tracewright",
      "sources": [
        "native/addon/active_span.cc",
        "native/addon/addon.cc",
        "native/addon/call_listener.cc",
        "native/addon/clock_calls.cc",
        "native/addon/collection_calls.cc",
        "native/addon/collection_log.cc",
        "native/addon/control_layout.cc",
        "native/addon/cpu_profile.cc",
        "native/addon/environment.cc",
        "native/addon/fast_function.cc",
        "native/addon/file_calls.cc",
        "native/addon/group_calls.cc",
        "native/addon/heap_end.cc",
        "native/addon/heap_profile.cc",
        "native/addon/loaded_cores.cc",
        "native/addon/loop_calls.cc",
        "native/addon/memory_calls.cc",
        "native/addon/packing_calls.cc",
        "native/addon/pattern_calls.cc",
        "native/addon/prepare_handle.cc",
        "native/addon/process_calls.cc",
        "native/addon/profile_calls.cc",
        "native/addon/profile_signals.cc",
        "native/addon/profile_text.cc",
        "native/addon/ring_calls.cc",
        "native/addon/ring_slots.cc",
        "native/addon/signal_listeners.cc",
        "native/addon/stall_stacks.cc",
        "native/addon/target_calls.cc",
        "native/addon/target_changes.cc",
        "native/addon/watched_loop.cc",
        "native/clock/clock.cc",
        "native/drain/drain_thread.cc",
        "native/process/fence.cc",
        "native/file/anchor.cc",
        "native/file/hidden_name.cc",
        "native/file/replace_file.cc",
        "native/loop/loop_watch.cc",
        "native/loop/loop_watches.cc",
        "native/process/free_descriptors.cc",
        "native/process/notes.cc",
        "native/process/process_identity.cc",
        "native/process/shared_list_file.cc",
        "native/ring/big_endian_words.cc",
        "native/ring/interval_stamp.cc",
        "native/ring/open_records.cc",
        "native/ring/record_packing.cc",
        "native/ring/ring.cc",
        "native/ring/ring_counts.cc",
        "native/ring/ring_end.cc",
        "native/ring/ring_file.cc",
        "native/ring/ring_mapping.cc",
        "native/ring/ring_room.cc",
        "native/ring/ring_waiting_records.cc",
        "native/ring/waiting_index.cc",
        "native/sink/datagram_sink.cc",
        "native/sink/file_sink.cc",
        "native/sink/loss_report.cc",
        "native/sink/network_address.cc",
        "native/sink/piece_series.cc",
        "native/sink/pipe_sink.cc",
        "native/sink/sent_datagrams.cc",
        "native/sink/shared_target.cc",
        "native/sink/sink.cc",
        "native/sink/socket_setup.cc",
        "native/sink/stream_sink.cc",
        "native/sink/target_group.cc"
      ],
      "include_dirs": ["native", "<!(node -p \"require('node-addon-api').include_dir\")"],
      "defines": ["NAPI_VERSION=8", "NAPI_DISABLE_CPP_EXCEPTIONS", "NODE_ADDON_API_DISABLE_DEPRECATED", "NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS"],
      "cflags_cc": ["-std=c++17", "-O3", "-Wall", "-Wextra", "-fno-exceptions", "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections"],
      "xcode_settings": {
        "CLANG_CXX_LANGUAGE_STANDARD": "c++17",
        "GCC_ENABLE_CPP_EXCEPTIONS": "NO",
        "GCC_SYMBOLS_PRIVATE_EXTERN": "YES",
        "MACOSX_DEPLOYMENT_TARGET": "11.0"
      },
      "conditions": [
        ["OS=='linux'", { "ldflags": ["-static-libstdc++", "-Wl,--exclude-libs,ALL", "-Wl,--gc-sections"] }]
      ]
    }
  ],
  "conditions": [
    [
      "build_bench==1",
      {
        "targets": [
          {
            "target_name": "tracewright_bench",
            "sources": [
              "native/bench/dumpi_send.cc",
              "native/bench/event_loops.cc",
              "native/bench/laplace_text.cc",
              "native/clock/clock.cc",
              "native/drain/drain_thread.cc",
              "native/process/fence.cc",
              "native/file/anchor.cc",
              "native/loop/loop_watch.cc",
              "native/loop/loop_watches.cc",
              "native/process/process_identity.cc",
              "native/ring/big_endian_words.cc",
              "native/ring/interval_stamp.cc",
              "native/ring/open_records.cc",
              "native/ring/ring.cc",
              "native/ring/ring_counts.cc",
              "native/ring/ring_end.cc",
              "native/ring/ring_file.cc",
              "native/ring/ring_mapping.cc",
              "native/ring/ring_room.cc",
              "native/ring/ring_waiting_records.cc",
              "native/ring/waiting_index.cc",
              "native/sink/file_sink.cc",
              "native/sink/loss_report.cc",
              "native/sink/piece_series.cc",
              "native/sink/sink.cc",
              "native/sink/target_group.cc"
            ],
            "include_dirs": ["native", "<!(node -p \"require('node-addon-api').include_dir\")"],
            "defines": ["NAPI_VERSION=8", "NAPI_DISABLE_CPP_EXCEPTIONS", "NODE_ADDON_API_DISABLE_DEPRECATED", "NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS"],
            "cflags_cc": ["-std=c++17", "-O3", "-Wall", "-Wextra", "-fno-exceptions", "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections"],
            "xcode_settings": {
              "CLANG_CXX_LANGUAGE_STANDARD": "c++17",
              "GCC_ENABLE_CPP_EXCEPTIONS": "NO",
              "GCC_SYMBOLS_PRIVATE_EXTERN": "YES",
              "MACOSX_DEPLOYMENT_TARGET": "11.0"
            }
          }
        ]
      }
    ],
    [
      "build_torture==1",
      {
        "targets": [
          {
            "target_name": "tracewright_torture",
            "sources": ["native/torture/memory.cc"],
            "include_dirs": ["native", "<!(node -p \"require('node-addon-api').include_dir\")"],
            "defines": ["NAPI_VERSION=8", "NAPI_DISABLE_CPP_EXCEPTIONS", "NODE_ADDON_API_DISABLE_DEPRECATED", "NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS"],
            "cflags_cc": ["-std=c++17", "-O3", "-Wall", "-Wextra", "-fno-exceptions", "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections"],
            "xcode_settings": {
              "CLANG_CXX_LANGUAGE_STANDARD": "c++17",
              "GCC_ENABLE_CPP_EXCEPTIONS": "NO",
              "GCC_SYMBOLS_PRIVATE_EXTERN": "YES",
              "MACOSX_DEPLOYMENT_TARGET": "11.0"
            }
          }
        ]
      }
    ]
  ]
}
