/* A store that misbehaves on order: a wrapper round any other, for tests and the simulator.
 *
 * Holds: a list of faults to come. A fault waits for its operation: the n-th from now of its kind (or of
 * any). What the inner store answers is passed on untouched otherwise; the operators' verbs always are.
 * Confined like the store it wraps. */
#ifndef TN_STORE_FAULTY_FAULTY_H
#define TN_STORE_FAULTY_FAULTY_H

#include "store/store.h"

enum { TN_FAULTS_MAX = 64 };

enum tn_fault_kind {
    TN_FAULT_REFUSE, /* nothing happens; answered with `status` */
    TN_FAULT_LOSE, /* it happens, but the reply is lost: answered with `status`, reply fields as they were */
    TN_FAULT_REPEAT, /* it happens twice, as a network or a retry may do; the second reply counts */
    TN_FAULT_DELAY   /* `delay_ms` pass first */
};

struct tn_fault {
    enum tn_fault_kind kind;
    enum tn_op_kind op;        /* TN_OP_COUNT: any */
    uint32_t nth;              /* the n-th such operation from now; 0 and 1: the next */
    enum tenure_status status; /* REFUSE: OK means UNREACHABLE; LOSE: OK means MAYBE */
    int64_t delay_ms;
};

/* Takes over `inner`: closing the wrapper closes it. `sleep_ms` is asked to let time pass, NULL: DELAY does
 * nothing. */
struct tn_store *tn_faulty_open(struct tn_store *inner, void (*sleep_ms)(int64_t ms));
struct tn_store *tn_faulty_inner(struct tn_store *store);
/* Faults are looked at in the order in which they were ordered; each strikes once. More than TN_FAULTS_MAX at
 * a time: false. */
bool tn_faulty_order(struct tn_store *store, const struct tn_fault *fault);
/* Ordered and not yet struck. */
size_t tn_faulty_waiting(const struct tn_store *store);

#endif
