{
  # Two targets: the core is a library of plain C that knows nothing of Node;
  # the addon is the thin binding above it. The tests of the core compile the
  # same files themselves (test/core/Makefile).
  #
  # Variables to set on node-gyp's command line (see scripts/build.js):
  #   etls_werror=1                     warnings are errors (our CI only)
  #   etls_sanitize=address,undefined   instrumented build
  'variables': {
    'etls_werror%': 0,
    'etls_sanitize%': '',
    # Node-API headers of a fixed version where they are installed (that is,
    # in a clone); a user's build takes the ones that came with node.
    'etls_napi_include': '<!(node -p "try { require(\'node-api-headers\').include_dir } catch { \'src/napi\' }")',
  },

  'target_defaults': {
    'defines': ['_GNU_SOURCE', 'NAPI_VERSION=8'],
    'cflags!': ['-O3', '-Wno-unused-parameter'],
    # -isystem, also for a directory that gyp gives with -I: no warnings from
    # headers that are not ours.
    'cflags': [
      '-isystem', '<(etls_napi_include)',
      '-isystem', '<(node_root_dir)/include/node',
      '-isystem', '<(module_root_dir)/deps/uthash',
      # Shared with test/core/Makefile and scripts/check-warnings.sh.
      '@<(module_root_dir)/src/warnings.flags',
      '-fvisibility=hidden', '-fstack-protector-strong', '-fno-common',
    ],
    'cflags_c': ['-std=c11'],
    'xcode_settings': {
      'GCC_C_LANGUAGE_STANDARD': 'c11',
      'GCC_SYMBOLS_PRIVATE_EXTERN': 'YES',
      'GCC_OPTIMIZATION_LEVEL': '2',
    },
    'configurations': {
      'Release': {
        'defines': ['NDEBUG'],
        'cflags!': ['-O3'],
        'cflags': ['-O2'],
      },
    },
    'conditions': [
      ['etls_werror==1', { 'cflags': ['-Werror'] }],
      ['etls_sanitize!=""', {
        'cflags': [
          '-fsanitize=<(etls_sanitize)', '-fno-sanitize-recover=all',
          '-fno-omit-frame-pointer', '-g',
        ],
        'ldflags': ['-fsanitize=<(etls_sanitize)'],
      }, {
        'configurations': {
          'Release': {
            'cflags': ['-U_FORTIFY_SOURCE', '-D_FORTIFY_SOURCE=2'],
          },
        },
      }],
    ],
  },

  'targets': [
    {
      'target_name': 'eager_tls_core',
      'type': 'static_library',
      'sources': [
        '<!@(node -p "require(\'fs\').readdirSync(\'src/core\').filter(f => f.endsWith(\'.c\')).map(f => \'src/core/\' + f).join(\' \')")',
      ],
    },
    {
      'target_name': 'eager_tls',
      'dependencies': ['eager_tls_core'],
      'sources': [
        '<!@(node -p "require(\'fs\').readdirSync(\'src/napi\').filter(f => f.endsWith(\'.c\')).map(f => \'src/napi/\' + f).join(\' \')")',
      ],
      'conditions': [
        # Bind at load: where the running binary does not export OpenSSL's
        # functions, loading fails and lib/ falls back, instead of the process
        # dying at the first call. And stay loaded when the last worker that
        # uses us ends: OpenSSL keeps what it was told about us (a BIO_METHOD,
        # an index), and its numbers for these run out.
        ['OS in "linux freebsd openbsd android"', {
          'ldflags': ['-Wl,-z,now', '-Wl,-z,relro', '-Wl,-z,nodelete'],
        }],
        ['OS=="mac"', {
          'xcode_settings': { 'OTHER_LDFLAGS': ['-Wl,-bind_at_load'] },
        }],
      ],
    },
  ],
}
