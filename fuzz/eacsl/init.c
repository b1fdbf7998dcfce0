/* SPDX-License-Identifier: Apache-2.0 */
/* E-ACSL starts its memory model in main(), which is the engine's here. Not seen by Frama-C. */
#include <stddef.h>

void __e_acsl_memory_init(int *argc, char ***argv, size_t pointer_bytes);
int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    __e_acsl_memory_init(argc, argv, sizeof(void *));
    return 0;
}
