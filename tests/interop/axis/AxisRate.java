import java.io.InputStream;
import java.net.URL;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.axis.AxisFault;
import org.apache.axis.attachments.AttachmentPart;
import org.apache.axis.client.Call;
import org.apache.axis.client.Service;

/** How fast Axis 1.4 reads, or with `write` writes: blocks by MTOM over several threads, what came dropped. Prints bytes a second of its best run. */
public final class AxisRate {
    private static final int ATTEMPTS = 5;

    private static Call call(String url, String operation) throws Exception {
        Call call = (Call) new Service().createCall();
        call.setTargetEndpointAddress(new URL(url));
        call.setUseSOAPAction(true);
        call.setSOAPActionURI(Part.RANDOM + "/" + operation);
        return call;
    }

    private static long write(String url, long offset, byte[] block) throws Exception {
        Call call = call(url, "write");
        call.setProperty(Call.ATTACHMENT_ENCAPSULATION_FORMAT, Call.ATTACHMENT_ENCAPSULATION_FORMAT_MTOM);
        call.addAttachmentPart(Part.of(block));
        call.invoke(new Object[] {Part.element("write", "mtom", "start-offset", "" + offset, "bytes-per-block", "" + block.length, "stride", "0")});
        return block.length;
    }

    private static long read(String url, long offset, int size, byte[] piece) throws Exception {
        Call call = call(url, "read");
        call.invoke(new Object[] {Part.element("read", "mtom", "start-offset", "" + offset, "bytes-per-block", "" + size, "num-blocks", "1", "stride", "0")});
        AttachmentPart part = (AttachmentPart) call.getResponseMessage().getAttachmentsImpl().getAttachments().iterator().next();
        long total = 0;
        try (InputStream in = part.getDataHandler().getInputStream()) {
            int count;
            while ((count = in.read(piece)) > 0) {
                total += count;
            }
        }
        return total;
    }

    /** One block. Axis's service answers some with a ConcurrentModificationException of its own: those are asked for again. */
    private static long move(String url, long offset, int block, byte[] piece, byte[] sent) throws Exception {
        for (int attempt = 1;; attempt++) {
            try {
                return sent == null ? read(url, offset, block, piece) : write(url, offset, sent);
            } catch (AxisFault fault) {
                if (attempt == ATTEMPTS) {
                    throw fault;
                }
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        int threads = Integer.parseInt(arguments[1]);
        int block = Integer.parseInt(arguments[2]);
        long size = Long.parseLong(arguments[3]);
        byte[] sent = arguments.length > 5 && arguments[5].equals("write") ? new byte[block] : null;
        double best = 0;
        for (int run = 0; run < Integer.parseInt(arguments[4]); run++) {
            AtomicLong next = new AtomicLong();
            AtomicLong total = new AtomicLong();
            Thread[] readers = new Thread[threads];
            long began = System.nanoTime();
            for (int at = 0; at < threads; at++) {
                readers[at] = new Thread(() -> {
                    byte[] piece = new byte[1 << 16];
                    try {
                        for (long offset; (offset = next.getAndAdd(block)) < size;) {
                            total.addAndGet(move(arguments[0], offset, block, piece, sent));
                        }
                    } catch (Exception error) {
                        error.printStackTrace();
                    }
                });
                readers[at].start();
            }
            for (Thread reader : readers) {
                reader.join();
            }
            if (total.get() != size) {
                throw new IllegalStateException(total.get() + " of " + size + " bytes");
            }
            best = Math.max(best, size / ((System.nanoTime() - began) / 1e9));
        }
        System.out.println(best);
        System.exit(0);
    }
}
