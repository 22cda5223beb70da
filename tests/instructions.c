/* Counts the instructions that a program executes in user mode: a plugin of qemu-user, loaded by `make bench work`.
   qemu's header is not packaged everywhere, so what is used of it is declared here (docs/devel/tcg-plugins of qemu). */
#include <inttypes.h>
#include <stdio.h>

struct qemu_plugin_tb;
typedef uint64_t plugin_id;
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int, void *, uint64_t);
void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;
static uint64_t executed;

static void translated(plugin_id id, struct qemu_plugin_tb *block) {
    qemu_plugin_register_vcpu_tb_exec_inline(block, 0 /* add */, &executed, qemu_plugin_tb_n_insns(block));
}

static void ended(plugin_id id, void *unused) { fprintf(stderr, "instructions: %" PRIu64 "\n", executed); }

__attribute__((visibility("default"))) int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv) {
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
